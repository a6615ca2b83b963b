import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EmbeddingServer, startEmbeddings } from '../../../test/support/embeddings.ts';
import type { LeasePort } from '../../contract/ports.ts';
import { SourceReader } from './background.ts';
import { ADA, openWithProject } from './test/support/kernel.ts';
import { silentLog } from './test/support/research.ts';

interface Found {
  readonly sources_searched_by_meaning: number;
  readonly sources_not_searched_by_meaning: number;
  readonly note?: string;
}

let world: Awaited<ReturnType<typeof openWithProject>>;
let server: EmbeddingServer;
beforeEach(async () => {
  server = await startEmbeddings();
  const embeddings = { base_url: server.baseUrl, model: 'test-embed' };
  world = await openWithProject({ config: { embeddings } });
});
afterEach(async () => {
  await world.close();
  await server.close();
});

/** A person's search, which itself begins nothing. */
const search = () =>
  world.data<Found>('find_similar_content', { search_text: 'financial trouble' }, { principal: ADA });

async function readerWith(more: { leases?: LeasePort; ai?: 'off' | 'local' } = {}): Promise<SourceReader> {
  const { projects, privacy, analysis } = await world.services();
  const { leases } = world.kernel;
  return new SourceReader({ ai: 'local', projects, privacy, analysis, leases, log: silentLog, ...more });
}

async function until(enough: (found: Found) => boolean): Promise<Found> {
  for (;;) {
    const found = await search();
    if (enough(found)) return found;
    await sleep(100);
  }
}

describe('reading sources in the background', () => {
  it('lets a later search find sentences by meaning, says what is not read yet, and stops on request', async () => {
    expect(await search()).toMatchObject({
      sources_searched_by_meaning: 0,
      sources_not_searched_by_meaning: 2,
      note: expect.stringMatching(/^2 of 2 sources were searched by words only/),
    });
    const stop = new AbortController();
    const running = (await readerWith()).run(stop.signal);
    const found = await until(({ sources_not_searched_by_meaning: left }) => left === 0);
    expect(found).toMatchObject({ sources_searched_by_meaning: 2 });
    expect(found).not.toHaveProperty('note');
    stop.abort();
    await running;
    expect(await world.kernel.leases.acquire('research.read-sources', 1000)).toBe(true);
  });

  it('begins behind the first call of an agent', async () => {
    await world.data('list_codes');
    await until(({ sources_searched_by_meaning: read }) => read === 2);
  });

  it('never reads a source off limits to agents, and forgets one that was read before', async () => {
    const stop = new AbortController();
    const running = (await readerWith()).run(stop.signal);
    await until(({ sources_searched_by_meaning: read }) => read === 2);
    stop.abort();
    await running;
    await world.data('set_source_access', { source_id: 1, off_limits: true }, { principal: ADA });
    const again = new AbortController();
    const restarted = (await readerWith()).run(again.signal);
    const found = await until(({ sources_searched_by_meaning: read }) => read === 1);
    expect(found.sources_not_searched_by_meaning).toBe(1);
    again.abort();
    await restarted;
  });

  it('leaves the work to the process that has it already', async () => {
    const stop = new AbortController();
    let asked = 0;
    const acquire = async () => {
      asked += 1;
      stop.abort();
      return false;
    };
    await (await readerWith({ leases: { acquire, release: async () => {} } })).run(stop.signal);
    expect(asked).toBe(1);
    expect(await search()).toMatchObject({ sources_searched_by_meaning: 0 });
  });

  it('does nothing at all when the researcher wants no analysis', async () => {
    const never = async (): Promise<boolean> => {
      throw new Error('It asked for the work.');
    };
    const reader = await readerWith({ ai: 'off', leases: { acquire: never, release: async () => {} } });
    await reader.run(new AbortController().signal);
    await reader.close();
    expect(await search()).toMatchObject({ sources_searched_by_meaning: 0 });
  });
});
