import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApp } from '../../src/app/app.ts';
import type { Definition } from '../../src/gateway/definition.ts';
import { pinOf } from '../../src/gateway/definition.ts';
import { rememberListing } from '../../src/gateway/listing.ts';
import { type GatewayDb, trust } from '../../src/gateway/store.ts';

const SERVERS = 20;
const TOOLS = 20;

/** Trusts 20 tools of each of 20 servers that are never started. Returns the configuration that names them. */
export async function pinServers(home: string): Promise<string> {
  const names = Array.from({ length: SERVERS }, (_, index) => `server${index}`);
  const text = [
    `toolkits = ${JSON.stringify(['x', ...names])}`,
    ...names.map((name) => `[servers.${name}]\ncommand = "/bin/false"\nargs = ["${name}"]`),
  ].join('\n');
  writeFileSync(join(home, 'config.toml'), `${text}\n`);
  const app = await openApp({ env: { COUNTERSIGN_HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent' } });
  const db = app.database.db as unknown as GatewayDb;
  for (const [index, name] of names.entries()) {
    const definitions = Array.from({ length: TOOLS }, (_, n) => definition(`tool_${index}_${n}`));
    const target = (await app.gateway?.targetOf(name)) ?? '';
    const offers = {
      resources: [],
      templates: [],
      prompts: [],
      capabilities: {},
      info: {},
      instructions: null,
    };
    await rememberListing(db, name, target, definitions, { era: { kind: 'legacy' }, offers }, new Date());
    const pins = definitions.map((one) => ({ tool: one.name, hash: pinOf(one), effect: 'read' as const }));
    await trust(db, name, target, pins, 'person:bench', new Date());
  }
  await app.close();
  return text;
}

const definition = (name: string): Definition => ({
  name,
  description: `Does what ${name} says, like any other of these tools.`,
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object', properties: { text: { type: 'string', description: 'What to use.' } } },
});
