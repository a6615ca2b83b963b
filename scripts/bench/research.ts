import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshHome, median, openStdio, type Peer } from './measure.ts';
import {
  ENGLISH_LENGTH,
  englishInterview,
  makeProject,
  PSEUDO_LENGTH,
  PSEUDO_SOURCES,
  pseudoText,
} from './research-data.ts';
import type { Row } from './table.ts';

const PAGES = 100;
const SEARCHES = 40;
const CODINGS = 10_000;
const EMBEDDING_LIMIT_MS = 90_000;
const BUDGETS = { open: 2000, page: 10, search: 100, codings: 2000, meanwhile: 50 };

/** A large project through the built server and a real client: what the researcher's agent would wait for. */
export async function researchRows(): Promise<Row[]> {
  const { home, path } = homeWith('large', makeLarge());
  const opened: number[] = [];
  for (let round = 0; round < 2; round += 1) opened.push(await openOnce(home, path));
  const peer = await serve(home);
  try {
    await data(peer, 'get_project_context');
    return [
      row('open, first call answered', median(opened), BUDGETS.open),
      await pageRow(peer),
      await searchRow(peer),
      await codingRow(peer),
      await embeddingRow(),
    ];
  } finally {
    await peer.close();
  }
}

const row = (what: string, ms: number, budget: number): Row => ({
  what: `research, ${what}`,
  bare: `${budget} ms`,
  ours: `${ms.toFixed(1)} ms`,
  ratio: ms / budget,
  budget: 1,
  better: 'lower',
});

const makeLarge = () =>
  Array.from({ length: PSEUDO_SOURCES }, (_, at) => ({
    name: `talk-${at + 1}.txt`,
    text: pseudoText(at + 1),
  }));

function homeWith(
  name: string,
  sources: readonly { name: string; text: string }[],
): { home: string; path: string } {
  const home = freshHome();
  const path = makeProject(join(home, name), sources);
  writeFileSync(join(home, 'config.toml'), `[research]\nproject = ${JSON.stringify(path)}\n`);
  return { home, path };
}

const serve = (home: string): Promise<Peer> =>
  openStdio(
    [join(process.env.TEST_DIST ?? 'dist', 'main.js'), 'mcp', 'serve', '--toolkits', 'research'],
    home,
  );

async function data<T = Record<string, unknown>>(
  peer: Peer,
  name: string,
  args: Record<string, unknown> = {},
): Promise<T> {
  const { structuredContent } = await peer.client.callTool({ name, arguments: args }, { timeout: 170_000 });
  const { success, data: found, error } = structuredContent as { success: boolean; data: T; error?: string };
  if (!success) throw new Error(`${name}: ${error}`);
  return found;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function openOnce(home: string, path: string): Promise<number> {
  const peer = await serve(home);
  try {
    await peer.client.listTools();
    return await timed(async () => {
      const context = await data(peer, 'get_project_context');
      if (context.project_path !== path || context.source_count !== PSEUDO_SOURCES)
        throw new Error('Another project was opened.');
    });
  } finally {
    await peer.close();
  }
}

/** Every page comes from a source that was not read before. */
async function pageRow(peer: Peer): Promise<Row> {
  const times: number[] = [];
  for (let at = 0; at < PAGES; at += 1) {
    const source_id = 1 + at * Math.floor(PSEUDO_SOURCES / PAGES);
    times.push(await timed(() => data(peer, 'read_source_content', { source_id })));
  }
  return row(
    `a page of ${PSEUDO_LENGTH.toLocaleString('en')} characters, p50 of ${PAGES} (slowest ${Math.max(...times).toFixed(0)} ms)`,
    median(times),
    BUDGETS.page,
  );
}

/** The first search of a project builds the index; this is about those after it, each with words of its own. */
async function searchRow(peer: Peer): Promise<Row> {
  const indexed = await timed(() => data(peer, 'find_similar_content', { search_text: 'anything' }));
  const times: number[] = [];
  for (let at = 0; at < SEARCHES; at += 1) {
    const words = pseudoText(1 + at * 7, 2000).split(/[\s.]+/);
    const search_text = words.slice(at * 3, at * 3 + 2 + (at % 5)).join(' ');
    times.push(
      await timed(async () => {
        const { match_count, method } = await data(peer, 'find_similar_content', { search_text });
        if (match_count === 0 || method !== 'lexical')
          throw new Error(`"${search_text}" was searched by ${method} and found ${match_count} times.`);
      }),
    );
  }
  return row(
    `find_similar_content by words, p50 of ${SEARCHES} (slowest ${Math.max(...times).toFixed(0)} ms; index made in ${(indexed / 1000).toFixed(1)} s)`,
    median(times),
    BUDGETS.search,
  );
}

async function codingRow(peer: Peer): Promise<Row> {
  const times: number[] = [];
  for (const name of ['First', 'Second', 'Third']) {
    // The first change of a day makes the backup; creating the code has done that.
    const { code_id } = await data(peer, 'create_code', { name });
    const operations = Array.from({ length: CODINGS }, (_, at) => {
      const start_position = Math.floor(at / PSEUDO_SOURCES) * 1000;
      return {
        code_id,
        source_id: 1 + (at % PSEUDO_SOURCES),
        start_position,
        end_position: start_position + 80,
      };
    });
    times.push(
      await timed(async () => {
        const { succeeded } = await data(peer, 'batch_apply_codes', { operations });
        if (succeeded !== CODINGS) throw new Error(`Only ${succeeded} codings were applied.`);
      }),
    );
  }
  return row(`${CODINGS.toLocaleString('en')} codings applied in one call`, median(times), BUDGETS.codings);
}

/** Other calls while the model reads an interview behind the first search. */
async function embeddingRow(): Promise<Row> {
  const { home } = homeWith('interview', [{ name: 'interview.txt', text: englishInterview() }]);
  const peer = await serve(home);
  try {
    const read = async () =>
      (await data(peer, 'find_similar_content', { search_text: 'waiting for an answer' }))
        .sources_searched_by_meaning === 1;
    await data(peer, 'read_source_content', { source_id: 1 });
    await read();
    const started = performance.now();
    const times: number[] = [];
    for (let done = false; !done; done = await read()) {
      if (performance.now() - started > EMBEDDING_LIMIT_MS)
        throw new Error(`${ENGLISH_LENGTH} characters were not read within ${EMBEDDING_LIMIT_MS / 1000} s.`);
      for (let at = 0; at < 25; at += 1) {
        times.push(
          await timed(() =>
            data(
              peer,
              at % 2 ? 'list_codes' : 'read_source_content',
              at % 2 ? {} : { source_id: 1, max_length: 5000 },
            ),
          ),
        );
        await sleep(20);
      }
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    times.sort((a, b) => a - b);
    const late = times[Math.floor(times.length * 0.99)] ?? 0;
    return row(
      `other calls while ${ENGLISH_LENGTH.toLocaleString('en')} characters are embedded (${seconds} s), p99 of ${times.length} (slowest ${Math.max(...times).toFixed(0)} ms)`,
      late,
      BUDGETS.meanwhile,
    );
  } finally {
    await peer.close();
  }
}
