import { createInterface } from 'node:readline';
import { ToolError } from '../../../src/contract/errors.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import {
  ok,
  openAssistant,
  openAssistantStore,
} from '../../../src/toolkits/assistant/test/support/assistant.ts';

/**
 * A process with the assistant in it. Each line on stdin is an order or a word; each line on stdout the end of one.
 * `up` runs the job of `countersign up`.
 */
const [dir = '', config = '{}', role = '', leaseMs = '30000'] = process.argv.slice(2);
const store = await openAssistantStore(undefined, dir);
const say = (value: JsonObject) => process.stdout.write(`${JSON.stringify(value)}\n`);
const assistant = openAssistant({
  store,
  config: JSON.parse(config) as JsonObject,
  pace: { leaseMs: Number(leaseMs) },
  tools: [
    { name: 'count_up', effect: 'change', answer: () => ok({ counted: true }) },
    {
      name: 'hang',
      effect: 'change',
      answer: () => {
        say({ tool: 'hang' });
        return new Promise(() => {});
      },
    },
  ],
});

if (role === 'up') {
  setInterval(() => {
    void assistant.services.orders.takeOver().then((taken) => taken > 0 && say({ taken }));
  }, 50);
}
process.stdout.write('ready\n');

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'close') {
    await assistant.close();
    process.stdout.write('closed\n');
    process.exit(0);
  }
  const { id, message, sessionKey, timeoutMs } = JSON.parse(line) as {
    id: string;
    message: string;
    sessionKey: string;
    timeoutMs?: number;
  };
  const signal = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  void assistant.order(message, { sessionKey, signal }).then(
    ({ text, notices, storedAt }) => say({ id, text, notices: [...notices], storedAt }),
    (error: unknown) => say({ id, code: error instanceof ToolError ? error.code : String(error) }),
  );
}
