import { z } from 'zod';
import { configSection } from '../contract/config.ts';
import { mcpPolicy } from '../contract/policy.ts';
import { PROFILES } from '../contract/profile.ts';

/** The keys above the first table. `tighten` says which way a session may move a value: order from strict to loose. */
export const topLevel = configSection('', 'Keys above the first table.', () =>
  z
    .object({
      mode: z
        .enum(['autopilot', 'composer'])
        .default('autopilot')
        .describe('autopilot, or composer: every change of toolkit x waits for a person.')
        .meta({ tighten: ['composer', 'autopilot'] }),
      approval_mode: z
        .boolean()
        .default(false)
        .describe('True: every change of toolkit x waits for a person. Always on in Composer mode.')
        .meta({ tighten: 'to-true' }),
      toolkits: z
        .array(z.string().min(1))
        .min(1)
        .default(['x', 'dev', 'research', 'assistant'])
        .describe('Toolkits offered to agents.'),
      profile: z
        .enum(PROFILES)
        .default('write')
        .describe(
          'Which tools exist: readonly, api-readonly, write or admin. Written here it is the most a flag can get.',
        )
        .meta({ tighten: [...PROFILES] }),
    })
    .strict(),
);

export const approvals = configSection('approvals', 'The inbox of what waits for a person.', () =>
  z
    .object({
      expiry_hours: z
        .number()
        .positive()
        .default(24)
        .describe('Hours after which an undecided call expires; research suggestions never do.'),
      agents_may_approve: z
        .boolean()
        .default(false)
        .describe('True: an agent may decide, never on its own calls.')
        .meta({ tighten: 'to-false' }),
      dialogs: z
        .boolean()
        .default(true)
        .describe(
          'False: no answer given in the program an agent runs in counts, only the inbox and commands.',
        )
        .meta({ tighten: 'to-false' }),
      notify: z
        .object({
          webhook: z
            .url({ protocol: /^https?$/ })
            .optional()
            .describe('Address that gets a POST when something waits; never with secrets or full content.')
            .meta({ secret: true }),
          desktop: z.boolean().default(true).describe('Desktop notification where there is a desktop.'),
        })
        .strict()
        .prefault({})
        .describe('How people are told that something waits.'),
    })
    .strict(),
);

/** Looks like an address; a drive letter does not. */
const OTHER_ADDRESS = /^[a-z][a-z0-9+.-]+:\//i;

export const storage = configSection('storage', 'Where queue, log and toolkit data are kept.', () =>
  z
    .object({
      url: z
        .string()
        .min(1)
        .refine((url) => /^postgres(ql)?:\/\//.test(url) || !OTHER_ADDRESS.test(url), {
          message: 'must be the path of a SQLite file or a postgres:// address',
        })
        .optional()
        .describe('postgres:// address or SQLite file; unset: countersign.db in the data directory.')
        .meta({ secret: true }),
    })
    .strict(),
);

export const server = configSection('server', 'The HTTP and TCP listeners of `countersign up`.', () =>
  z
    .object({
      host: z
        .string()
        .min(1)
        .default('127.0.0.1')
        .describe('Address to listen on; beyond loopback a token is required.'),
      port: z.number().int().min(0).max(65535).default(8765).describe('HTTP port; 0 takes a free one.'),
      tcp: z
        .string()
        .regex(/^(.+:)?\d{1,5}$/, 'must be an address like 127.0.0.1:8090')
        .optional()
        .describe('Address for newline-delimited JSON-RPC, like 127.0.0.1:8090; unset: no TCP listener.'),
      public_url: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe('How people reach this server from outside; used in links and allowed as Host and Origin.'),
      allowed_hosts: z
        .array(z.string().min(1))
        .default([])
        .describe('Host names accepted beside loopback and public_url.'),
    })
    .strict(),
);

export const calls = configSection('calls', 'What holds for every call.', () =>
  z
    .object({
      timeout_seconds: z
        .number()
        .positive()
        .default(120)
        .describe('Deadline of a call, except for tools that state a longer one.'),
    })
    .strict(),
);

export const audit = configSection('audit', 'The evidence log.', () =>
  z
    .object({
      checkpoint_seconds: z
        .number()
        .int()
        .min(1)
        .default(60)
        .describe('Between signed checkpoints while entries come in.'),
      origin: z
        .string()
        .regex(/^[^\s+]+$/, 'must have no spaces or plus signs')
        .optional()
        .describe('Name of this log in its checkpoints; unset: made from the host name.'),
      retention_days: z
        .number()
        .int()
        .min(0)
        .default(0)
        .describe(
          'Days after which stored arguments and results are erased; proofs stay valid. 0 keeps them.',
        ),
    })
    .strict(),
);

export const log = configSection('log', 'What is written to stderr.', () =>
  z
    .object({
      level: z
        .enum(['silent', 'error', 'warn', 'info', 'debug'])
        .default('info')
        .describe('silent, error, warn, info or debug.'),
    })
    .strict(),
);

export const coreSections = [mcpPolicy, approvals, storage, server, calls, audit, log] as const;
