import { setTimeout as sleep } from 'node:timers/promises';
import type { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { logEnd, newsSince } from '../../kernel/views/news.ts';
import { personOfSession } from '../../kernel/views/sign-in.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';

const POLL_MS = 250;
const PRESENCE_EVERY = 12;
/** Calls are frequent: pages are notified of new ones at most once a second. */
const CALLS_EVERY = 4;

/** What happens, as it happens: through the store, because the acting process is usually another one. */
export function addEventRoutes(api: Hono<WebEnv>, { kernel, log, database, now }: WebPorts): void {
  answer(api, 'POST /presence', async (_context, { listener, place }) => {
    await kernel.events.look(listener, place ?? undefined);
    return { place };
  });

  api.get('/events', (context) =>
    streamSSE(
      context,
      async (stream) => {
        let seen = Number(context.req.header('last-event-id')) || (await kernel.events.latestId());
        const listener = await kernel.events.present();
        let logged = await logEnd(database);
        const { id } = context.get('session');
        const isSignedIn = async () => (await personOfSession(database, id, now())) !== undefined;
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
            const events = await kernel.events.since(seen);
            const isDue = turn % CALLS_EVERY === 0;
            // Nothing more to a page whose session has ended; its next attempt to listen is answered as signed out.
            if ((isDue || events.length > 0) && !(await isSignedIn())) break;
            for (const event of events) {
              seen = event.id;
              await stream.writeSSE({
                event: event.topic,
                data: JSON.stringify(event.data),
                id: String(event.id),
              });
            }
            if (isDue) {
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
