import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWithProject } from '../../../test/support/research-kernel.ts';
import { readSources } from './background.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
beforeEach(async () => {
  world = await openWithProject();
});
afterEach(() => world.close());

describe('reading sources in the background', () => {
  it('lets a later search find sentences by meaning, and stops when it is told to', async () => {
    const before = await world.data('find_similar_content', { search_text: 'financial trouble' });
    expect(before).toMatchObject({ sources_searched_by_meaning: 0 });
    const stop = new AbortController();
    const running = readSources(await world.services(), world.kernel.leases).run(stop.signal);
    for (;;) {
      const found = await world.data<{ sources_searched_by_meaning: number }>('find_similar_content', {
        search_text: 'financial trouble',
      });
      if (found.sources_searched_by_meaning > 0) break;
      await sleep(100);
    }
    stop.abort();
    await running;
  });

  it('leaves the work to the process that has it already', async () => {
    const stop = new AbortController();
    let asked = 0;
    const leases = {
      acquire: async () => {
        asked += 1;
        stop.abort();
        return false;
      },
    };
    await readSources(await world.services(), leases).run(stop.signal);
    expect(asked).toBe(1);
    expect(await world.data('find_similar_content', { search_text: 'money' })).toMatchObject({
      sources_searched_by_meaning: 0,
    });
  });
});
