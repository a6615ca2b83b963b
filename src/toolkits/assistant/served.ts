import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import { serve, type ViewData } from '../../contract/view.ts';
import { timeLimit } from '../../lib/time-limit.ts';
import type { AssistantServices } from './services.ts';
import { entryJson, sessionRow } from './sessions/report.ts';
import type { Run } from './sessions/runs.ts';
import type { Session } from './sessions/sessions.ts';
import { entryShape, views } from './views.ts';

type Status = ViewData<typeof views.status>;

const PING_MS = 20_000;

/**
 * For `countersign status` and `doctor`: what is configured, whether an order would be taken, and, with `ping`, whether
 * the model really answers. Problems are reported, never thrown.
 */
async function assistantStatus(
  services: Pick<AssistantServices, 'backend' | 'sessions' | 'files'>,
  options: { ping: boolean; signal?: AbortSignal },
): Promise<Status> {
  const { backend, sessions, files } = services;
  const report: Status = {
    ...backend.describe(),
    configured: true,
    personaFile: files.persona,
    memoryFile: files.memory,
    sessions: await sessions.count(),
  };
  const problem = await problemOf(() => backend.check());
  if (problem) return { ...report, configured: false, problem };
  if (!options.ping) return report;
  const limit = timeLimit(PING_MS, options.signal);
  let answer: JsonObject = {};
  const failure = await problemOf(async () => {
    answer = await backend.ping(limit.signal);
  }).finally(() => limit.clear());
  return failure
    ? { ...report, reachable: false, problem: failure }
    : { ...report, reachable: true, ping: answer };
}

async function problemOf(work: () => Promise<void>): Promise<Status['problem']> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof ToolError) return { code: error.code, message: error.message, hint: error.hint };
    const isTimeout = error instanceof Error && error.name === 'TimeoutError';
    if (isTimeout)
      return {
        code: 'timeout',
        message: `No answer within ${PING_MS / 1000} s.`,
        hint: 'Check the address and the network.',
      };
    return { code: 'assistant_error', message: 'The check failed.', hint: 'See the server log.' };
  }
}

const MINUTE_MS = 60_000;
const ORDER_SHOWN = 200;

/** What a person sees of the assistant in the web app and on the command line. */
export const served = serve<AssistantServices, typeof views>(views, {
  async sessions({ active_minutes, limit, offset }, { services }) {
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

  async transcript({ id, limit, offset }, { services }) {
    const session = await services.sessions.get(id);
    if (!session) throw new ToolError('not_found', `Session ${id} not found.`);
    const entries = await services.transcript.entries(id, { limit, offset });
    const latest = await services.runs.latest([id]);
    return {
      session: describe(session, latest.get(id), services.now()),
      total: await services.transcript.count(id),
      entries: entries.map((entry) => entryShape.parse(entryJson(entry))),
    };
  },

  status: ({ ping }, { services }) => assistantStatus(services, { ping }),
});

/** A session as a list shows it: by its newest order, and whether a process still works on that. */
function describe(session: Session, run: Run | undefined, now: Date) {
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
