import { resolve } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openPlace, type Place, serve, stdioServer } from './support.ts';

let place: Place;
afterEach(() => place.close());

it('offers the resources and prompts of a server without tools once a person trusts it', async () => {
  place = await openPlace(stdioServer('l', resolve('test/gateway/without-tools.mjs')));
  const gateway = await serve(place.app, ['l']);
  const client = await gateway.connect();
  const uris = async () => (await client.listResources()).resources.map(({ uri }) => uri);
  try {
    expect(await uris()).not.toContain('library://book');
    await expect(client.readResource({ uri: 'library://book' })).rejects.toThrow('not found');
    await place.trust('l');
    expect(await uris()).toContain('library://book');
    const { contents } = await client.readResource({ uri: 'library://book' });
    expect(contents).toEqual([{ uri: 'library://book', text: 'Once' }]);
    expect((await client.getPrompt({ name: 'l__summarise' })).messages).toHaveLength(1);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['gateway_result_read']);
  } finally {
    await client.close();
    await gateway.close();
  }
});
