import { z } from 'zod';
import { configSection } from './config.ts';
import { ENVIRONMENTS } from './presentation.ts';

/** The category of every tool that belongs to a third-party server; conditions see its owner as `tool.server`. */
export const SERVER_CATEGORY = 'server';

/** What a server may ask of the calling client during a call; each kind is a category of its own to policy. */
export const QUESTION_KINDS = ['elicitation', 'sampling', 'roots'] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** A question waits for no person: the server and its client would have given up long before. */
export const isQuestion = (category: string): category is QuestionKind =>
  (QUESTION_KINDS as readonly string[]).includes(category);

/** Categories whose tools belong to a third-party server. */
export const isOfServer = (category: string): boolean => category === SERVER_CATEGORY || isQuestion(category);

/** Whether the changes of a server require approval. Destructive calls always do, and reads run. */
const SERVER_CHANGES = ['ask', 'allow'] as const;
export type ServerChanges = (typeof SERVER_CHANGES)[number];

/** Part of the name of every question, as in `NAME.asks.sampling`. */
export const QUESTION_MARK = '.asks.';

/** The protocol's extension by which a call is answered with a handle. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Where a stored result keeps the protocol error that a server answered with. */
export const RPC_ERROR = 'countersign/rpc_error';

/** Tools are named `SERVER__tool`, so a server's own name must not contain the separator. */
export const SERVER_NAME = /^[a-z](?:[a-z0-9-]|_(?!_|$)){0,31}$/;

// biome-ignore lint/suspicious/noTemplateCurlyInString: references as they are written in the file
const references = 'Values may be references: ${env:NAME} or ${secret:NAME}.';

// biome-ignore lint/suspicious/noTemplateCurlyInString: references as they are written in the file
const argReferences = '${args.NAME} is replaced by an argument of the change.';

/** Checked when a server is opened: most configurations have no pattern, and the engine takes time to load. */
const pattern = z.string().min(1);
const RE2 = 'Syntax: RE2.';

export const serverFields = z
  .object({
    command: z.string().min(1).optional().describe('Program that speaks MCP on stdio.'),
    args: z
      .array(z.string())
      .default([])
      .describe(`Its arguments, which other processes can see. ${references}`),
    env: z
      .record(z.string(), z.string())
      .default({})
      .describe(`Environment variables of the program. ${references}`)
      .meta({ secret: true }),
    cwd: z.string().min(1).optional().describe('Directory to start the program in.'),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe(`Address of a server that speaks Streamable HTTP. ${references}`),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe(`HTTP headers sent with every request. ${references}`)
      .meta({ secret: true }),
    transport: z.enum(['http', 'sse']).default('http').describe('sse: the older HTTP+SSE transport.'),
    environment: z
      .enum(ENVIRONMENTS)
      .default('live')
      .describe('What its calls act on, as shown to people: live, sandbox or local.'),
    enabled: z.boolean().default(true).describe('False: its tools are not offered.'),
    effects: z
      .record(z.string(), z.enum(['read', 'change', 'destroy']))
      .default({})
      .describe('Effect of single tools, by the name the server gives them; overrides what was confirmed.'),
    changes: z
      .enum(SERVER_CHANGES)
      .optional()
      .describe(
        'ask: its changes require approval unless a rule allows them; allow: they run unless a rule says otherwise. Unset: ask. Reads run, and destructive calls always require approval.',
      ),
    may_ask: z
      .array(z.enum(QUESTION_KINDS))
      .default([])
      .describe(
        'What it may ask of the calling client during a call, where the client can: elicitation, sampling, roots. Sampling also needs a rule that allows it.',
      ),
    isolation: z
      .enum(['shared', 'per-client'])
      .default('shared')
      .describe('shared: one process or session for all clients; per-client: one for each.'),
    timeout_seconds: z
      .number()
      .positive()
      .optional()
      .describe('Deadline of its calls; unset: calls.timeout_seconds.'),
    start_seconds: z.number().positive().default(30).describe('Time it may take to start.'),
    idle_seconds: z
      .number()
      .min(0)
      .default(600)
      .describe('Stopped after this time without a call; 0 keeps it running.'),
    prewarm: z.boolean().default(false).describe('True: `countersign up` starts it before its first call.'),
    reconcile: z
      .record(
        z.string(),
        z
          .object({
            tool: z.string().min(1).describe('Name of a read tool of the same server.'),
            args: z.record(z.string(), z.json()).default({}).describe(`Its arguments. ${argReferences}`),
            done_if: pattern
              .optional()
              .describe(`If its result matches, the change has happened. ${argReferences} ${RE2}`),
            not_done_if: pattern
              .optional()
              .describe(`If its result matches, the change has not happened. ${RE2}`),
          })
          .strict(),
      )
      .default({})
      .describe(
        'How to find out whether an interrupted change has happened, by the name of the changing tool.',
      ),
    max_result_kb: z
      .number()
      .positive()
      .default(1024)
      .describe('Longer results are cut; the complete result is stored as an artifact.'),
    mask: z
      .array(pattern)
      .default([])
      .describe(`Regular expressions; what they match in results is replaced by [masked]. ${RE2}`),
  })
  .strict()
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: 'needs either command or url',
  });

export type ServerSettings = z.output<typeof serverFields>;

/** `[servers.NAME]`: every third-party server is a toolkit of its own. */
export const servers = configSection(
  'servers',
  'Third-party MCP servers, one table [servers.NAME] each.',
  () =>
    z
      .object({})
      .catchall(serverFields)
      .superRefine((tables, context) => {
        for (const name of Object.keys(tables)) {
          if (SERVER_NAME.test(name)) continue;
          const message =
            'is not a usable server name: use lower-case letters, digits, - and single _, at most 32';
          context.addIssue({ code: 'custom', path: [name], message });
        }
      }),
);
