import type { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openScripted, reader, type ScriptedPlace } from './scripted.ts';
import { serve } from './support.ts';

const offers = {
  resources: [{ uri: 'note://listed', name: 'listed' }],
  resourceTemplates: [{ uriTemplate: 'note://by-id/{id}', name: 'by-id' }],
  prompts: [{ name: 'greet' }],
};
const LINK = { type: 'resource_link', uri: 'note://linked', name: 'linked' };
const EMBEDDED = { type: 'resource', resource: { uri: 'note://embedded', text: 'x' } };

let place: ScriptedPlace;
let served: Awaited<ReturnType<typeof serve>>;
let client: Client;
beforeEach(async () => {
  const answers = { look: { result: { content: [LINK, EMBEDDED] } } };
  place = await openScripted({ tools: [reader('look')], answers, offers });
  await place.trust('s');
  served = await serve(place.app, ['s']);
  client = await served.connect();
});
afterEach(async () => {
  await client.close();
  await served.close();
  await place.close();
});

const sent = () => place.reads().map(({ method, uri, name }) => `${method} ${uri ?? name ?? ''}`);
const refusals = async () => {
  await place.app.kernel.flush();
  const calls = await place.app.kernel.telemetry.calls({ toolkit: 's' });
  return calls.filter(({ status }) => status === 'failed').map(({ tool }) => tool);
};

describe('what a server neither listed nor returned', () => {
  it('is refused with an entry before anything reaches the server', async () => {
    for (const uri of [
      'file:///etc/passwd',
      'note://by-id/7/../../secret',
      'note://linked',
      'note://listed/',
    ])
      await expect(client.readResource({ uri })).rejects.toThrow(/Resource not found.*Nothing was sent/);
    await expect(client.subscribeResource({ uri: 'file:///etc/passwd' })).rejects.toThrow('not found');
    await expect(client.getPrompt({ name: 's__steal' })).rejects.toThrow('Prompt not found');
    for (const ref of [
      { type: 'ref/resource' as const, uri: 'file:///{path}' },
      { type: 'ref/prompt' as const, name: 's__steal' },
    ])
      await expect(client.complete({ ref, argument: { name: 'a', value: 'b' } })).rejects.toThrow(
        'not found',
      );
    expect(sent()).toEqual([]);
    expect((await refusals()).toSorted()).toEqual([
      ...Array(2).fill('s.completion.complete'),
      's.prompts.get',
      ...Array(4).fill('s.resources.read'),
      's.resources.subscribe',
    ]);
  });

  it('leaves what it lists, what matches a template and what it returned to this principal', async () => {
    await client.readResource({ uri: 'note://listed' });
    await client.readResource({ uri: 'note://by-id/7' });
    await client.callTool({ name: 's__look', arguments: {} });
    await client.readResource({ uri: 'note://linked' });
    await client.readResource({ uri: 'note://embedded' });
    await client.subscribeResource({ uri: 'note://linked' });
    expect(sent()).toEqual([
      'resources/read note://listed',
      'resources/read note://by-id/7',
      'resources/read note://linked',
      'resources/read note://embedded',
      'resources/subscribe note://linked',
    ]);
    const bound = await place.app.inventory.resolve('s.resources.read');
    if (!bound) throw new Error('The server has no resources.');
    const { outcome } = await place.app.kernel.invoke({
      bound,
      args: { uri: 'note://linked' },
      principal: { kind: 'agent', id: 'other' },
      transport: 'test',
    });
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'not_found' } });
  });

  it('is found once the server lists it, also unannounced', async () => {
    await expect(client.readResource({ uri: 'note://new' })).rejects.toThrow('not found');
    place.script({ tools: [reader('look')], offers: { resources: [{ uri: 'note://new', name: 'new' }] } });
    const read = () => client.readResource({ uri: 'note://new' }).then(() => 'read', String);
    await expect.poll(read, { timeout: 30_000 }).toBe('read');
  });
});
