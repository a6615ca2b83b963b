// Posts through a sandbox of its own on a shared store, and prints the ids it got. Started several times in parallel.
import type { Kysely } from 'kysely';
import { openStorage } from '../../../src/app/open-storage.ts';
import { startSandbox } from '../../../src/toolkits/x/emulator/start.ts';
import type { SandboxTables } from '../../../src/toolkits/x/emulator/stored-state.ts';

const [url = '', name = '', count = '0', now = ''] = process.argv.slice(2);
const database = await openStorage({ url });
const sandbox = await startSandbox({
  db: database.db as unknown as Kysely<SandboxTables>,
  now: () => new Date(now),
});
process.stdout.write('ready\n');
await new Promise<void>((resolve) => process.stdin.once('data', () => resolve()));
for (let index = 0; index < Number(count); index++) {
  const response = await fetch(`${sandbox.url}/2/tweets`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${sandbox.credentials.user_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ text: `${name} ${index}` }),
  });
  const { data } = (await response.json()) as { data: { id: string } };
  process.stdout.write(`id ${data.id}\n`);
}
await sandbox.close();
await database.close();
process.exit(0);
