import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SqliteFile } from '../../src/toolkits/research/project/schema.ts';
import { median } from './measure.ts';
import { pseudoText } from './research-data.ts';
import { type Busy, call, homeWith, type ProbedPeer, row, serveProbed, timed } from './research-peer.ts';
import type { Row } from './table.ts';

const INTERVIEWS = 30;
const LENGTH = 50_000;
const CODES = 230;
const CODINGS = 750;
const CALLS = 40;
const LONG_TEXT = 30_000_000;
const BUDGETS = { first: 4000, warm: 100, other: 50 };

/** Suggestions through the built server and a real client, on a project of usual size and on one very long text. */
export async function suggestionRows(): Promise<Row[]> {
  return [...(await usualProject()), ...(await longText())];
}

async function usualProject(): Promise<Row[]> {
  const texts = Array.from({ length: INTERVIEWS }, (_, at) => ({
    name: `interview-${at + 1}.txt`,
    text: pseudoText(at + 1, LENGTH),
  }));
  const { home, path } = homeWith('interviews', texts);
  codeProject(path, texts);
  const peer = await serveProbed(home);
  try {
    await call(peer, 'get_project_context');
    const range = (at: number) => ({
      source_id: 1 + (at % INTERVIEWS),
      start_pos: 700 + 900 * at,
      end_pos: 860 + 900 * at,
    });
    const first = await withOthers(peer, () => call(peer, 'suggest_codes_for_range', range(0)));
    const warm: number[] = [];
    for (let at = 1; at <= CALLS; at += 1)
      warm.push(await timed(() => call(peer, 'suggest_codes_for_range', range(at))));
    const size = `${INTERVIEWS} interviews, ${CODES} codes and ${CODINGS} codings`;
    return [
      row(
        `suggest_codes_for_range, first answer on ${size} (${first.cpu.toFixed(0)} ms of CPU, other calls included)`,
        first.ms,
        BUDGETS.first,
      ),
      row(
        `suggest_codes_for_range, p50 of ${CALLS} (slowest ${Math.max(...warm).toFixed(0)} ms)`,
        median(warm),
        BUDGETS.warm,
      ),
      ...otherRows('while the model is built', first),
    ];
  } finally {
    await peer.close();
  }
}

/** A passage of a text of 30 MB, which takes its time to read; others must not notice. */
async function longText(): Promise<Row[]> {
  const part = pseudoText(99, LONG_TEXT / 10);
  const texts = [
    ...Array.from({ length: 5 }, (_, at) => ({ name: `short-${at}.txt`, text: pseudoText(at + 1, LENGTH) })),
    { name: 'long.txt', text: part.repeat(10) },
  ];
  const { home, path } = homeWith('long', texts);
  codeProject(path, texts.slice(0, 5));
  const peer = await serveProbed(home);
  try {
    await call(peer, 'get_project_context');
    const range = { source_id: 6, start_pos: 1_000_000, end_pos: 1_000_160 };
    const suggested = await withOthers(peer, () => call(peer, 'suggest_codes_for_range', range));
    const quote = part.slice(2_000_100, 2_000_200);
    const quoted = await withOthers(peer, () => call(peer, 'find_quote', { source_id: 6, quote }));
    return [
      ...otherRows('while a passage of a text of 30 MB is suggested for', suggested),
      ...otherRows('while a quote is looked for in it', quoted),
    ];
  } finally {
    await peer.close();
  }
}

interface WithOthers extends Busy {
  readonly ms: number;
  readonly others: readonly number[];
  /** What the other calls take while nothing else is done; on a busy machine much of the time is not ours. */
  readonly idle: number;
}

/** Makes one call and, while it runs, others one after the other. */
async function withOthers(peer: ProbedPeer, work: () => Promise<unknown>): Promise<WithOthers> {
  const idle: number[] = [];
  for (let at = 0; at < CALLS; at += 1) {
    idle.push(await timed(() => call(peer, 'list_codes')));
    await sleep(5);
  }
  const { cpu } = await peer.busy();
  const others: number[] = [];
  let done = false;
  const working = timed(work).finally(() => {
    done = true;
  });
  while (!done) {
    others.push(await timed(() => call(peer, 'list_codes')));
    await sleep(5);
  }
  const ms = await working;
  const busy = await peer.busy();
  return { ...busy, cpu: busy.cpu - cpu, ms, others, idle: late(idle) };
}

const otherRows = (when: string, { ms, others, idle, busyMost }: WithOthers): Row[] => [
  row(
    `other calls ${when} (${(ms / 1000).toFixed(1)} s), p99 of ${others.length} (before: ${idle.toFixed(0)} ms)`,
    late(others),
    BUDGETS.other,
  ),
  row(`main thread busy without a break ${when}, most CPU time`, busyMost, BUDGETS.other),
];

function codeProject(path: string, texts: readonly { readonly text: string }[]): void {
  const db = new SqliteFile(join(path, 'data.qda'));
  db.exec('BEGIN');
  const words = pseudoText(1000, 20_000).split(/[\s.]+/);
  for (let code = 1; code <= CODES; code += 1)
    db.run(
      'INSERT INTO code_name (name, memo, owner, date, color) VALUES (?, ?, ?, ?, ?)',
      `${words[3 * code]} ${words[3 * code + 1]} ${code}`,
      words.slice(3 * code, 3 * code + 12).join(' '),
      'ada',
      '2024-03-05 11:12:13',
      '#123456',
    );
  for (let at = 0; at < CODINGS; at += 1) {
    const source = at % texts.length;
    const start = 500 + 1000 * Math.floor(at / texts.length);
    db.run(
      `INSERT INTO code_text (cid, fid, seltext, pos0, pos1, owner, date, memo) VALUES (?, ?, ?, ?, ?, 'ada', '2024-03-05 11:12:13', '')`,
      1 + ((at * 37) % CODES),
      source + 1,
      texts[source]?.text.slice(start, start + 160) ?? '',
      start,
      start + 160,
    );
  }
  db.exec('COMMIT');
  db.close();
}

function late(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}
