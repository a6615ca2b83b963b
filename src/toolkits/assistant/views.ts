import { z } from 'zod';
import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { View } from '../../contract/toolkit.ts';
import { assistantStatus } from './health.ts';
import type { AssistantServices } from './services.ts';
import { entryJson } from './sessions/export.ts';
import { sessionRow } from './sessions/report.ts';
import type { Run } from './sessions/runs.ts';
import type { Session } from './sessions/sessions.ts';

const page = {
  limit: z.coerce.number().int().min(1).max(500).default(100),
  offset: z.coerce.number().int().min(0).default(0),
};
const sessionsParams = z.object({ active_minutes: z.coerce.number().int().min(1).optional(), ...page });
const transcriptParams = z.object({ id: z.string(), ...page });

const MINUTE_MS = 60_000;
const ORDER_SHOWN = 200;

/** What a person sees of the assistant in the web app and on the command line. */
export const views: Readonly<Record<string, View<AssistantServices>>> = {
  async sessions(params, { services }) {
    const { active_minutes, limit, offset } = parse(sessionsParams, params);
    const now = services.now();
    const activeSince =
      active_minutes === undefined ? undefined : new Date(now.getTime() - active_minutes * MINUTE_MS);
    const rows = await services.sessions.list({ activeSince, limit, offset });
    const latest = await services.runs.latest(rows.map(({ id }) => id));
    return {
      total: await services.sessions.count(activeSince),
      sessions: rows.map((row) => describe(row, latest.get(row.id), now)),
    };
  },

  async transcript(params, { services }) {
    const { id, limit, offset } = parse(transcriptParams, params);
    const session = await services.sessions.get(id);
    if (!session) throw new ToolFault('not_found', `There is no session ${id}.`);
    const entries = await services.transcript.entries(id, { limit, offset });
    const latest = await services.runs.latest([id]);
    return {
      session: describe(session, latest.get(id), services.now()),
      total: await services.transcript.count(id),
      entries: entries.map((entry): JsonValue => entryJson(entry)),
    };
  },

  async status(params, { services }) {
    return assistantStatus(services, { ping: params.ping === true || params.ping === 'true' });
  },
};

/** A session as a list shows it: by its newest order, and whether somebody still works on that. */
function describe(session: Session, run: Run | undefined, now: Date): JsonObject {
  const working = run?.state === 'queued' || run?.state === 'running';
  return {
    ...sessionRow(session, now),
    caller: session.scope,
    createdAt: session.created_at,
    lastOrder: run ? run.message.slice(0, ORDER_SHOWN) : null,
    working,
    doing: working ? run.doing : null,
  };
}

function parse<T>(schema: z.ZodType<T>, params: JsonObject): T {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ToolFault(
    'invalid_input',
    `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'wrong parameters'}`,
  );
}
