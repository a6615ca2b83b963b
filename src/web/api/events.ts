import { setTimeout as sleep } from 'node:timers/promises';
import type { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { z } from 'zod';
import type { Database } from '../../kernel/database.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { readJson } from './body.ts';

const POLL_MS = 250;
const PRESENCE_EVERY = 12;
/** Calls are many: pages hear at most once a second that there are new ones. */
const CALLS_EVERY = 4;
const ENTRIES_AT_ONCE = 500;
const presenceBody = z
  .object({ listener: z.string().max(100), place: z.string().max(500).nullable() })
  .strict();

/** What happens, as it happens: through the store, because the acting process is usually another one. */
export function addEventRoutes(api: Hono<WebEnv>, { kernel, log, database }: WebPorts): void {
  api.post('/presence', async (context) => {
    const { listener, place } = await readJson(context, presenceBody);
    await kernel.events.look(listener, place ?? undefined);
    return context.json({ place });
  });

  api.get('/events', (context) =>
    streamSSE(
      context,
      async (stream) => {
        let seen = Number(context.req.header('last-event-id')) || (await kernel.events.latestId());
        const listener = await kernel.events.present();
        let logged = await logEnd(database);
        let open = true;
        stream.onAbort(() => {
          open = false;
        });
        await stream.writeSSE({ event: 'hello', data: JSON.stringify({ listener }), id: String(seen) });
        try {
          for (let turn = 0; open; turn += 1) {
            if (turn % PRESENCE_EVERY === 0) {
              await kernel.events.present(listener);
              await stream.writeSSE({ event: 'ping', data: '{}' });
            }
            for (const event of await kernel.events.since(seen)) {
              seen = event.id;
              await stream.writeSSE({
                event: event.topic,
                data: JSON.stringify(event.data),
                id: String(event.id),
              });
            }
            if (turn % CALLS_EVERY === 0) {
              const news = await newsSince(database, logged);
              for (const event of news.topics) await stream.writeSSE({ event, data: '{}' });
              logged = news.end;
            }
            await sleep(POLL_MS);
          }
        } finally {
          await kernel.events.gone(listener);
        }
      },
      async (error) => log.debug('An event stream ended', { error: error.message }),
    ),
  );
}

async function logEnd({ db }: Database): Promise<number> {
  const last = await db
    .selectFrom('audit_log')
    .select('seq')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.seq ?? -1;
}

/** Entries that tell of something done; an intent or a refusal left everything as it was. */
const DONE = new Set(['outcome', 'call', 'settled']);

/**
 * What new entries of the log mean for pages: that there are calls (`calls`), whose data they changed
 * (`changed.dev`), that somebody changed how the server stands (`config`).
 */
async function newsSince(
  { db }: Database,
  seen: number,
): Promise<{ readonly end: number; readonly topics: ReadonlySet<string> }> {
  const rows = await db
    .selectFrom('audit_log')
    .select(['seq', 'kind', 'body'])
    .where('seq', '>', seen)
    .orderBy('seq')
    .limit(ENTRIES_AT_ONCE)
    .execute();
  const topics = new Set<string>(rows.length > 0 ? ['calls'] : []);
  for (const { kind, body } of rows) {
    if (kind === 'config') topics.add('config');
    if (!DONE.has(kind)) continue;
    const { toolkit } = JSON.parse(body) as { toolkit?: string };
    if (toolkit !== undefined) topics.add(`changed.${toolkit}`);
  }
  return { end: rows.at(-1)?.seq ?? seen, topics };
}
