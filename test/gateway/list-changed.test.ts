import { afterEach, describe, expect, it } from 'vitest';
import { openScripted, reader, type ScriptedPlace } from './scripted.ts';
import { serve } from './support.ts';

let place: ScriptedPlace;
afterEach(() => place.close());

describe('a client that is connected while a person trusts a tool', () => {
  it.each([
    ['modern', { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const],
    ['legacy', {}],
  ])('hears of it and finds the tool: %s', async (_era, options) => {
    place = await openScripted({ tools: [reader('look')] });
    await place.trust('s');
    const gateway = await serve(place.app, ['s']);
    let heard = 0;
    const client = await gateway.connect({
      ...options,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => (heard += 1) } },
    });
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names()).toEqual(['s__look', 'gateway_result_read']);
    const answers = { look: { changed: true, result: { content: [] } } };
    place.script({ tools: [reader('look'), reader('more')], answers });
    await place.call('s__look', {});
    const upstream = await place.app.gateway?.upstream('s');
    await expect.poll(() => upstream?.live.has('more')).toBe(true);
    expect(await names()).toEqual(['s__look', 'gateway_result_read']);
    await place.trust('s');
    await expect.poll(names).toContain('s__more');
    await expect.poll(() => heard).toBeGreaterThan(0);
    await client.close();
    await gateway.close();
  });
});
