import { median, type Peer } from './measure.ts';
import { PSEUDO_LENGTH, PSEUDO_SOURCES, pseudoText } from './research-data.ts';
import { call, homeWith, row, serve, timed } from './research-peer.ts';
import type { Row } from './table.ts';

const PAGES = 100;
const SEARCHES = 40;
const CODINGS = 10_000;
const BUDGETS = { open: 2000, page: 10, search: 100, codings: 2000 };

/** A large project through the built server and a real client: what the researcher's agent would wait for. */
export async function researchRows(): Promise<Row[]> {
  const { home, path } = homeWith('large', makeLarge());
  const opened: number[] = [];
  for (let round = 0; round < 2; round += 1) opened.push(await openOnce(home, path));
  const peer = await serve(home);
  try {
    await call(peer, 'get_project_context');
    return [
      row('open, first call answered', median(opened), BUDGETS.open),
      await pageRow(peer),
      await searchRow(peer),
      await codingRow(peer),
    ];
  } finally {
    await peer.close();
  }
}

const makeLarge = () =>
  Array.from({ length: PSEUDO_SOURCES }, (_, at) => ({
    name: `talk-${at + 1}.txt`,
    text: pseudoText(at + 1),
  }));

async function openOnce(home: string, path: string): Promise<number> {
  const peer = await serve(home);
  try {
    await peer.client.listTools();
    return await timed(async () => {
      const context = await call(peer, 'get_project_context');
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
    times.push(await timed(() => call(peer, 'read_source_content', { source_id })));
  }
  return row(
    `a page of ${PSEUDO_LENGTH.toLocaleString('en')} characters, p50 of ${PAGES} (slowest ${Math.max(...times).toFixed(0)} ms)`,
    median(times),
    BUDGETS.page,
  );
}

/** The first search of a project builds the index; this is about those after it, each with words of its own. */
async function searchRow(peer: Peer): Promise<Row> {
  const indexed = await timed(() => call(peer, 'find_similar_content', { search_text: 'anything' }));
  const times: number[] = [];
  for (let at = 0; at < SEARCHES; at += 1) {
    const words = pseudoText(1 + at * 7, 2000).split(/[\s.]+/);
    const search_text = words.slice(at * 3, at * 3 + 2 + (at % 5)).join(' ');
    times.push(
      await timed(async () => {
        const { match_count, method } = await call(peer, 'find_similar_content', { search_text });
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
    const { code_id } = await call(peer, 'create_code', { name });
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
        const { succeeded } = await call(peer, 'batch_apply_codes', { operations });
        if (succeeded !== CODINGS) throw new Error(`Only ${succeeded} codings were applied.`);
      }),
    );
  }
  return row(`${CODINGS.toLocaleString('en')} codings applied in one call`, median(times), BUDGETS.codings);
}
