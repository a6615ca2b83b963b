import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApp } from '../../src/app/app.ts';
import { createServed } from '../../src/app/serving.ts';
import { type GatewayDb, readSeen } from '../../src/gateway/store.ts';
import { TRUST_TOOL, trustArgs } from '../../src/gateway/trust.ts';
import { serveOnHttp } from '../../src/transports/http.ts';

/** The gateway over HTTP with one trusted server on stdio, whose script is the argument. Run as a child of the benchmark. */
const [script = ''] = process.argv.slice(2);
const command = JSON.stringify(process.execPath);
writeFileSync(
  join(process.env.COUNTERSIGN_HOME ?? '', 'config.toml'),
  `[servers.e]\ncommand = ${command}\nargs = ${JSON.stringify([script, '2'])}\n`,
);
const app = await openApp({ env: process.env });
const { gateway } = app;
if (!gateway) throw new Error('No server is configured.');
gateway.proposing = false;
await (await gateway.upstream('e')).ready();
const seen = await readSeen(
  app.database.db as unknown as GatewayDb,
  'e',
  (await gateway.targetOf('e')) ?? '',
);
const bound = await app.inventory.resolve(TRUST_TOOL);
if (!bound) throw new Error('The gateway has no tool to trust with.');
const args = trustArgs(
  'e',
  seen.map((one) => ({ ...one, effect: 'read' })),
);
await app.kernel.invoke({ bound, args, principal: { kind: 'person', id: 'bench' }, transport: 'bench' });
const served = await createServed(app, { toolkits: ['e'], profile: 'write', discovery: false });
const { port } = await serveOnHttp(served, { host: '127.0.0.1', port: 0 });
process.stdout.write(`${port}\n`);
