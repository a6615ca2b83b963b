import { setTimeout as sleep } from 'node:timers/promises';
import { defineToolkit } from '../../contract/toolkit.ts';
import { served } from './served.ts';
import { type AssistantServices, openServices } from './services.ts';
import { orderClawdbot } from './tools/order-clawdbot.ts';

const LOOK_EVERY_MS = 2_000;

export const toolkit = defineToolkit<AssistantServices>({
  id: 'assistant',
  title: 'Assistant',
  rank: 4,
  actsAs: ['assistant'],
  usesTools: true,
  tools: [orderClawdbot],
  views: served,
  connect: async (host) => openServices(host),
  close: (services) => services.orders.close(),
  jobs: (services, host) => [
    {
      name: 'assistant-orders',
      /** Finishes what callers timed out on and whose own process has gone. */
      async run(signal) {
        while (!signal.aborted) {
          try {
            const taken = await services.orders.takeOver();
            if (taken > 0) host.log.info('The assistant resumes orders of processes that ended.', { taken });
          } catch (error) {
            host.log.warn('The assistant could not look for unfinished orders.', { error: String(error) });
          }
          await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
        }
      },
    },
  ],
});
