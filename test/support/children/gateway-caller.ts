import { openApp } from '../../../src/app/app.ts';
import { LOCAL_AGENT } from '../../../src/contract/principal.ts';
import type { Database } from '../../../src/kernel/store/database.ts';

/**
 * A gateway that makes one change at a third-party server. At the named write of that call it ends the server, itself or
 * both, as kill -9 would; what happens while the server has the call is the server's script.
 */
const [home = '', tool = '', text = '', killAt = '', whom = ''] = process.argv.slice(2);

const app = await openApp({ env: { COUNTERSIGN_HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent' } });
const upstream = await app.gateway?.upstream('s');
const { pid } = (await upstream?.ready()) ?? {};
let writes = 0;
const die = (point: string): void => {
  if (point !== killAt) return;
  if (whom !== 'gateway' && pid !== undefined) process.kill(pid, 'SIGKILL');
  if (whom !== 'server') process.kill(process.pid, 'SIGKILL');
};
const database = app.database as { -readonly [K in keyof Database]: Database[K] };
const write = database.write.bind(database);
database.write = async (work) => {
  writes += 1;
  const turn = writes;
  die(`before-write-${turn}`);
  const result = await write(work);
  die(`after-write-${turn}`);
  return result;
};
const bound = await app.inventory.resolve(tool);
if (!bound) throw new Error(`Unknown tool: ${tool}.`);
const { outcome } = await app.kernel.invoke({
  bound,
  args: { text },
  principal: LOCAL_AGENT,
  transport: 'test',
  client: text,
});
process.stdout.write(`${outcome.status} after ${writes} writes\n`);
await app.close();
