import { z } from 'zod';
import { defineView } from './view.ts';

/** What people see of third-party servers; the gateway answers, the page and tests read the types. */
const summary = z.object({
  name: z.string(),
  state: z.enum(['disabled', 'quarantined', 'changed', 'trusted']),
  trusted: z.int(),
  waiting: z.int(),
  health: z.string(),
  error: z.string().nullable(),
  changes: z.enum(['ask', 'allow']),
  /** What runs and what asks, and how to change that. */
  changes_note: z.string(),
  target: z.string(),
});

export const serverViews = {
  servers: defineView({ params: z.object({}), output: z.object({ servers: z.array(summary) }) }),
  server: defineView({
    params: z.object({ name: z.string(), lines: z.int().min(1).max(1000).default(200) }),
    output: z.object({
      server: summary,
      listed_at: z.string().nullable(),
      notes: z.array(z.string()),
      tools: z.array(
        z.object({
          /** As the server calls it, and as policy and agents do. */
          tool: z.string(),
          name: z.string(),
          state: z.enum(['trusted', 'new', 'changed', 'gone']),
          effect: z.enum(['read', 'change', 'destroy']),
          /** What the server's own annotations say. */
          claimed: z.enum(['read', 'change', 'destroy']),
          hash: z.string(),
          description: z.string(),
          input_schema: z.record(z.string(), z.json()),
          warnings: z.array(z.string()),
          changes: z.array(
            z.object({ field: z.string(), before: z.json().nullable(), after: z.json().nullable() }),
          ),
          decided_by: z.string().nullable(),
          decided_at: z.string().nullable(),
        }),
      ),
      log: z.array(z.string()),
    }),
  }),
};
