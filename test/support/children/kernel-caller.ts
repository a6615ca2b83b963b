import { createInterface } from 'node:readline';
import { openStorage } from '../../../src/app/open-storage.ts';
import type { Database } from '../../../src/kernel/store/database.ts';
import { openTestKernel } from '../kernel.ts';

/**
 * A process with a kernel that makes the calls it reads from stdin. `killAt` ends it, as kill -9 would, right before
 * or after a numbered write transaction, or in the middle of the tool's effect.
 */
const [url = '', dataDir = '', limit = '100000'] = process.argv.slice(2);

interface Order {
  readonly tool: string;
  readonly args: Record<string, string>;
  readonly key?: string;
  readonly killAt?: string;
  readonly times?: number;
}

let killAt: string | undefined;
let writes = 0;
const die = (point: string): void => {
  if (point === killAt) process.kill(process.pid, 'SIGKILL');
};

const database = await openStorage({ url });
const watched: Database = {
  ...database,
  async write(work) {
    writes += 1;
    const turn = writes;
    die(`before-write-${turn}`);
    const result = await database.write(async (trx) => {
      const value = await work(trx);
      die(`inside-write-${turn}`);
      return value;
    });
    die(`after-write-${turn}`);
    return result;
  },
};
const test = await openTestKernel(watched, dataDir, { policy: { max_mutations_per_hour: Number(limit) } });
process.stdout.write('ready\n');

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order;
  const statuses: Record<string, number> = {};
  for (let turn = 0; turn < (order.times ?? 1); turn += 1) {
    writes = 0;
    killAt = order.killAt;
    const args = order.times ? { ...order.args, text: `${order.args.text}-${turn}` } : order.args;
    const { outcome } = await test.call(order.tool, args, { idempotencyKey: order.key });
    statuses[outcome.status] = (statuses[outcome.status] ?? 0) + 1;
  }
  killAt = undefined;
  await test.kernel.flush();
  process.stdout.write(`${JSON.stringify(statuses)}\n`);
}
await database.close();
