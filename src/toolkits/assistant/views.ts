import { z } from 'zod';
import { defineView } from '../../contract/view.ts';

// What people see of the assistant, as schemas alone: pages and commands take their types from here.

const page = {
  limit: z.coerce.number<number>().int().min(1).max(500).default(100),
  offset: z.coerce.number<number>().int().min(0).default(0),
};

const session = z.object({
  key: z.string(),
  kind: z.string(),
  updatedAt: z.number(),
  ageMs: z.number(),
  sessionId: z.string(),
  systemSent: z.boolean(),
  abortedLastRun: z.boolean(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  totalTokens: z.number(),
  model: z.string().nullable(),
  contextTokens: z.number(),
  caller: z.string(),
  createdAt: z.string(),
  /** What the newest order says, shortened. */
  lastOrder: z.string().nullable(),
  working: z.boolean(),
  doing: z.string().nullable(),
});

/** Messages carry `message`, notes `text`, compactions `summary`; backends may add more of their own. */
export const entryShape = z.looseObject({
  type: z.string(),
  seq: z.number(),
  run: z.string().nullable(),
  timestamp: z.string(),
  model: z.string().optional(),
  inContext: z.boolean().optional(),
  message: z.looseObject({ role: z.string(), content: z.unknown() }).optional(),
  text: z.string().optional(),
  summary: z.string().optional(),
});

export const views = {
  sessions: defineView({
    params: z.object({ active_minutes: z.coerce.number<number>().int().min(1).optional(), ...page }),
    output: z.object({ total: z.number(), sessions: z.array(session) }),
  }),
  transcript: defineView({
    params: z.object({ id: z.string(), ...page }),
    output: z.object({ session, total: z.number(), entries: z.array(entryShape) }),
  }),
  status: defineView({
    params: z.object({ ping: z.boolean().default(false) }),
    output: z.object({
      backend: z.enum(['model', 'command']),
      /** Of a model. */
      model: z.string().nullable().optional(),
      fallbacks: z.array(z.string()).optional(),
      /** Of a command-line agent. */
      program: z.string().nullable().optional(),
      configured: z.boolean(),
      personaFile: z.string(),
      memoryFile: z.string(),
      sessions: z.number(),
      /** Only after a ping. */
      reachable: z.boolean().optional(),
      ping: z.record(z.string(), z.unknown()).optional(),
      problem: z.object({ code: z.string(), message: z.string(), hint: z.string() }).optional(),
    }),
  }),
};
