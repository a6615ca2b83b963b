import { afterEach, expect, it } from 'vitest';
import { isAlive, openScripted, reader, type ScriptedPlace } from './scripted.ts';
import { serve } from './support.ts';

let place: ScriptedPlace;
afterEach(() => place.close());

async function twoClients(isolation: 'shared' | 'per-client'): Promise<number[]> {
  place = await openScripted({ tools: [reader('look')] }, `isolation = "${isolation}"\n`);
  await place.trust('s');
  const gateway = await serve(place.app, ['s']);
  const clients = [await gateway.connect(), await gateway.connect()];
  const listed = place.pids().length;
  for (const client of [...clients, ...clients]) await client.callTool({ name: 's__look', arguments: {} });
  const started = place.pids().slice(listed);
  for (const client of clients) await client.close();
  await gateway.close();
  return started;
}

it('shares one process between clients', async () => {
  expect(await twoClients('shared')).toEqual([]);
  expect(place.calls()).toHaveLength(4);
});

it('starts one process for each client that wants its own, and leaves none behind', async () => {
  const started = await twoClients('per-client');
  expect(started).toHaveLength(2);
  await place.reopen();
  for (const pid of place.pids()) expect(isAlive(pid)).toBe(false);
});

it('keeps a changed definition from one client as from another', async () => {
  place = await openScripted({ tools: [reader('look')] }, 'isolation = "per-client"\n');
  await place.trust('s');
  place.script({ tools: [reader('look', { description: 'Something else.' })] });
  const { outcome } = await place.call('s__look', {}, { connection: 'another' });
  expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'definition_changed' } });
  expect(place.calls()).toEqual([]);
});
