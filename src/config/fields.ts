import { z } from 'zod';
import { configSection } from '../contract/config.ts';
import { PASSKEY_MODES } from '../contract/passkeys.ts';
import { mcpPolicy } from '../contract/policy.ts';
import { DIALOG_MODES } from '../contract/ports.ts';
import { servers } from '../contract/servers.ts';
import { PROFILES } from '../contract/tool.ts';

/** The keys above the first table. `tighten` says which way a session may move a value: order from strict to loose. */
export const topLevel = configSection('', 'Keys above the first table.', () =>
  z
    .object({
      mode: z
        .enum(['autopilot', 'composer'])
        .default('autopilot')
        .describe('autopilot, or composer: every change on social media requires approval.')
        .meta({ tighten: ['composer', 'autopilot'] }),
      approval_mode: z
        .boolean()
        .default(false)
        .describe('True: every change on social media requires approval. Always on in Composer mode.')
        .meta({ tighten: 'to-true' }),
      toolkits: z
        .array(z.string().min(1))
        .min(1)
        .optional()
        .describe(
          'Toolkits offered to agents. Unset: all toolkits except those that another toolkit includes.',
        ),
      profile: z
        .enum(PROFILES)
        .default('write')
        .describe(
          'Which tools exist: readonly, api-readonly, write or admin. When set here, a flag can only choose a narrower one.',
        )
        .meta({ tighten: [...PROFILES] }),
    })
    .strict(),
);

export const approvals = configSection('approvals', 'The approval inbox.', () =>
  z
    .object({
      expiry_hours: z
        .number()
        .positive()
        .default(24)
        .describe('Hours after which a pending approval expires; research suggestions never expire.'),
      agents_may_approve: z
        .boolean()
        .default(false)
        .describe('True: agents may decide approvals, but never their own requests.')
        .meta({ tighten: 'to-false' }),
      max_pending_per_agent: z
        .number()
        .int()
        .min(1)
        .default(10_000)
        .describe('Pending approvals that one agent may have; its further requests are refused.'),
      dialogs: z
        .enum(DIALOG_MODES)
        .default('local')
        .describe(
          'What an approval dialog in the client decides: calls that stay on this computer or in a sandbox and can be undone (local), every call that needs no passkey (all), or nothing (off). A file of a project can answer such a dialog in your place.',
        )
        .meta({ tighten: ['off', 'local', 'all'] }),
      without_terminal: z
        .boolean()
        .default(false)
        .describe(
          'True: commands that decide also work without a terminal, for scripts of yours. In the shell of an AI agent they never do.',
        )
        .meta({ tighten: 'to-false' }),
      hold_seconds: z
        .number()
        .int()
        .min(0)
        .max(30)
        .default(8)
        .describe(
          'Seconds (0 to 30) for which the web app holds an approved live call that others see or that has no undo, so a person can call it off; 0 runs it immediately. Signed calls are not held.',
        ),
      passkey: z
        .enum(PASSKEY_MODES)
        .default('off')
        .describe('Which approvals must be signed with a passkey: none, those of destructive calls, or all.')
        .meta({ tighten: ['always', 'destructive', 'off'] }),
      rp_id: z
        .string()
        .min(1)
        .optional()
        .describe('Domain that passkeys belong to: the host of server.public_url, or a parent of it.'),
      notify: z
        .object({
          webhook: z
            .url({ protocol: /^https?$/ })
            .optional()
            .describe(
              'URL that receives a POST for each pending approval; never with secrets or full content.',
            )
            .meta({ secret: true }),
          webhook_kind: z
            .enum(['json', 'ntfy', 'slack', 'discord'])
            .default('json')
            .describe(
              'What the webhook is: JSON for a program of yours, a topic of an ntfy server, or an incoming webhook of Slack or Discord. Each message links to the inbox; none can approve.',
            ),
          webhook_token: z
            .string()
            .min(1)
            .optional()
            .describe('Sent to the webhook as a bearer token.')
            .meta({ secret: true }),
          desktop: z
            .boolean()
            .default(true)
            .describe('Show a desktop notification if a desktop is available.'),
        })
        .strict()
        .prefault({})
        .describe('How people are notified of pending approvals.'),
    })
    .strict(),
);

/** Looks like an address; a drive letter does not. */
const OTHER_ADDRESS = /^[a-z][a-z0-9+.-]+:\//i;

export const storage = configSection(
  'storage',
  'Where approvals, audit log and toolkit data are stored.',
  () =>
    z
      .object({
        url: z
          .string()
          .min(1)
          .refine((url) => /^postgres(ql)?:\/\//.test(url) || !OTHER_ADDRESS.test(url), {
            message: 'must be the path of a SQLite file or a postgres:// URL',
          })
          .optional()
          .describe('postgres:// URL or SQLite file; unset: countersign.db in the data directory.')
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
      port: z.number().int().min(0).max(65535).default(8765).describe('HTTP port; 0 selects a free one.'),
      tcp: z
        .string()
        .regex(/^(.+:)?\d{1,5}$/, 'must be an address such as 127.0.0.1:8090')
        .optional()
        .describe('Address for newline-delimited JSON-RPC, such as 127.0.0.1:8090; unset: no TCP listener.'),
      public_url: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe('How people reach this server from outside; used in links and allowed as Host and Origin.'),
      allowed_hosts: z
        .array(z.string().min(1))
        .default([])
        .describe(
          'Host names accepted in addition to loopback and public_url; pages on their standard ports may send requests.',
        ),
      max_sessions_per_agent: z
        .number()
        .int()
        .min(1)
        .default(200)
        .describe('Open MCP sessions over HTTP that one agent may have; further ones are refused.'),
      max_tasks_per_agent: z
        .number()
        .int()
        .min(1)
        .default(100)
        .describe('Tasks that one agent may have in this server; calls that need another are refused.'),
      max_connections: z
        .number()
        .int()
        .min(1)
        .default(512)
        .describe(
          'Open connections that each of the HTTP and TCP listeners accepts; one agent may occupy half of them.',
        ),
      idle_seconds: z
        .number()
        .int()
        .min(1)
        .default(3600)
        .describe(
          'Seconds after which a TCP connection without traffic and without a running call is closed.',
        ),
    })
    .strict(),
);

export const calls = configSection('calls', 'Settings that apply to every call.', () =>
  z
    .object({
      timeout_seconds: z
        .number()
        .positive()
        .default(120)
        .describe('Deadline of a call, except for tools that state a longer one.'),
      max_idempotency_key_length: z
        .number()
        .int()
        .min(16)
        .default(512)
        .describe('Longest idempotency key in characters; calls with a longer one are refused.'),
    })
    .strict(),
);

export const audit = configSection('audit', 'The audit log.', () =>
  z
    .object({
      checkpoint_seconds: z
        .number()
        .int()
        .min(1)
        .default(60)
        .describe('Seconds between signed checkpoints while entries are being written.'),
      origin: z
        .string()
        .regex(/^[^\s+]+$/, 'must have no spaces or plus signs')
        .optional()
        .describe('Name of a new log in its checkpoints, kept permanently; unset: a random one.'),
      retention_days: z
        .number()
        .int()
        .min(0)
        .default(0)
        .describe(
          'Days after which stored arguments and results are erased; proofs stay valid. 0 never erases them.',
        ),
    })
    .strict(),
);

export const telemetry = configSection('telemetry', 'Traces and metrics for monitoring.', () =>
  z
    .object({
      otlp_endpoint: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe(
          'OpenTelemetry collector that receives OTLP over HTTP, such as http://127.0.0.1:4318; unset: nothing is sent and the SDK is not loaded.',
        ),
      headers: z
        .record(z.string(), z.string())
        .default({})
        .describe('Headers for the collector, such as an API key.')
        .meta({ secret: true }),
      service_name: z
        .string()
        .min(1)
        .default('countersign')
        .describe('`service.name` of the traces and metrics.'),
      interval_seconds: z.number().int().min(1).default(60).describe('Seconds between exports of metrics.'),
      scrape_token: z
        .string()
        .min(16)
        .optional()
        .describe('Bearer token that may read GET /metrics; unset: only signed-in people may.')
        .meta({ secret: true }),
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

export const coreSections = [
  mcpPolicy,
  approvals,
  storage,
  server,
  calls,
  audit,
  telemetry,
  log,
  servers,
] as const;
