import { setTimeout as sleep } from 'node:timers/promises';
import type { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';

const POLL_MS = 250;
const PRESENCE_EVERY = 12;
/** Calls are many: pages hear at most once a second that there are new ones. */
const CALLS_EVERY = 4;

/** What happens, as it happens: through the store, because the acting process is usually another one. */
export function addEventRoutes(api: Hono<WebEnv>, { kernel, log, database }: WebPorts): void {
  const logEnd = async (): Promise<number> => {
    const last = await database.db
      .selectFrom('audit_log')
      .select('seq')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    return last?.seq ?? -1;
  };
  api.get('/events', (context) =>
    streamSSE(
      context,
      async (stream) => {
        let seen = Number(context.req.header('last-event-id')) || (await kernel.events.latestId());
        let listener: string | undefined;
        let logged = await logEnd();
        let open = true;
        stream.onAbort(() => {
          open = false;
        });
        await stream.writeSSE({ event: 'hello', data: '{}', id: String(seen) });
        try {
          for (let turn = 0; open; turn += 1) {
            if (turn % PRESENCE_EVERY === 0) {
              listener = await kernel.events.present(listener);
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
              const end = await logEnd();
              if (end !== logged) await stream.writeSSE({ event: 'calls', data: '{}' });
              logged = end;
            }
            await sleep(POLL_MS);
          }
        } finally {
          if (listener) await kernel.events.gone(listener);
        }
      },
      async (error) => log.debug('An event stream ended', { error: error.message }),
    ),
  );
}
