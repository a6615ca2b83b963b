import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { reader, tool } from './scripted.ts';
import { openPlace, PERSON, type Place, SCRIPTED, serve } from './support.ts';

const dir = mkdtempSync(join(tmpdir(), 'countersign-changes-'));
let place: Place;
afterEach(async () => {
  await place.close();
  rmSync(dir, { recursive: true, force: true });
});

it('changes of a server ask in discovery mode too, and a standing approval answers', async () => {
  const script = join(dir, 'script.json');
  writeFileSync(script, JSON.stringify({ tools: [reader('look'), tool('note'), tool('delete_note')] }));
  const args = JSON.stringify([SCRIPTED, script]);
  place = await openPlace(`[servers.s]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`);
  await place.trust('s');
  const served = await serve(place.app, ['s'], true);
  const client = await served.connect();
  const call = async (name: string) => {
    const { structuredContent, content } = await client.callTool({
      name: 'call_tool',
      arguments: { name: `s__${name}`, arguments: { text: 'one' } },
    });
    return JSON.stringify(structuredContent ?? content);
  };
  expect(await call('look')).toContain('done');
  expect(await call('note')).toContain('routed_to_approval');
  expect(await call('delete_note')).toContain('routed_to_approval');

  const until = new Date(Date.now() + 3_600_000).toISOString();
  const predicates = [{ arg: 'text', op: 'equals' as const, value: 'one' }];
  const draft = { agent: 'agent:local', predicates, until, uses: 1 };
  await place.app.kernel.standing.add({ ...draft, tool: 's__note' }, PERSON);
  expect(await call('note')).toContain('done');
  expect(await call('note')).toContain('routed_to_approval');
  await expect(place.app.kernel.standing.add({ ...draft, tool: 's__delete_note' }, PERSON)).rejects.toThrow();
  await client.close();
  await served.close();
});
