import { randomUUID } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { numberOf, type SqliteFile, textOf } from '../project/schema.ts';
import type { ProjectReader, SourceText } from '../project/types.ts';
import { openCacheFile } from './cache-file.ts';
import { Pace } from './pace.ts';
import { passages } from './passages.ts';
import type { IndexHit, TextIndex } from './stores.ts';
import { textHash } from './text-hash.ts';
import { stemsOf } from './words.ts';

const FORMAT = 2;
/** Passages written between two chances for other work; a few milliseconds. */
const SLICE = 16;
/** Ranking costs about two microseconds a passage. */
const RANKED = 10_000;
/** How many more passages are ranked when only some sources may be shown. */
const REACH = 5;

const TABLES = `
  CREATE TABLE IF NOT EXISTS indexed (source INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, hash TEXT NOT NULL, run TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS passage (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, run TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS passage_source ON passage (source);
  CREATE TABLE IF NOT EXISTS word (stem TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (stems, content='', contentless_delete=1, tokenize='unicode61');
`;

export interface SearchOptions {
  readonly limit?: number;
  readonly sourceIds?: readonly number[];
  /** All words in this order, one after the other. */
  readonly phrase?: boolean;
  readonly signal?: AbortSignal;
}

/** What finding similar content needs beyond ranked passages. */
export interface PassageIndex extends TextIndex {
  search(words: readonly string[], options?: SearchOptions): Promise<readonly IndexHit[]>;
  /** In how many passages each stem occurs, and how many passages there are. */
  frequencies(stems: readonly string[]): {
    readonly passages: number;
    readonly found: ReadonlyMap<string, number>;
  };
  /** Indexed stems that begin with a letter and have about the given length: candidates for a misspelt word. */
  vocabulary(prefix: string, length: { readonly min: number; readonly max: number }): readonly string[];
}

interface Query {
  readonly match: string;
  readonly ranked: boolean;
}

type Texts = Pick<ProjectReader, 'sources' | 'text' | 'loadText'>;

/**
 * Full-text index of one project in a file of its own, outside the project; it can be deleted at any time. Stems are made here,
 * by the same code that reads queries, so SQLite only sees ready words.
 */
export class FileTextIndex implements PassageIndex {
  readonly #db: SqliteFile;
  readonly #texts: Texts;
  /** Stems this process has already stored: most words of a new passage are among them. */
  readonly #stored = new Set<string>();
  /** Counting a common word takes milliseconds; forgotten whenever a source changes. */
  readonly #counts = new Map<string, number>();
  readonly #closing = new AbortController();
  #updating: Promise<void> | undefined;
  #verified = false;

  constructor(path: string, texts: Texts) {
    this.#texts = texts;
    this.#db = openCacheFile(path, (db) => {
      if (numberOf(db.get('PRAGMA user_version')?.user_version) === FORMAT) return;
      for (const table of ['indexed', 'passage', 'word', 'words']) db.exec(`DROP TABLE IF EXISTS ${table}`);
      db.exec(TABLES);
      db.exec(`PRAGMA user_version = ${FORMAT}`);
    });
  }

  async search(words: readonly string[], options: SearchOptions = {}): Promise<readonly IndexHit[]> {
    await this.update(options.signal ? { signal: options.signal } : {});
    this.#verifyOnce();
    const stems = words.flatMap(stemsOf).map(indexed).filter(Boolean);
    if (stems.length === 0) return [];
    const query = options.phrase ? { match: `"${stems.join(' ')}"`, ranked: false } : this.#telling(stems);
    const only = options.sourceIds ? `WHERE p.source IN (${options.sourceIds.map(Number).join(',')})` : '';
    const limit = options.limit ?? 100;
    // Ranked and cut inside FTS5 first: joining every passage that holds a common word would take most of the time.
    await yieldToEventLoop();
    const rows = this.#hits(query, only ? limit * REACH : limit, only, limit);
    const enough = rows.length >= limit || !only;
    return (enough ? rows : this.#hits(query, -1, only, limit)).map((row) => ({
      sourceId: numberOf(row.source),
      start: numberOf(row.start),
      end: numberOf(row.stop),
      // FTS5 ranks the best match lowest.
      score: -numberOf(row.score),
    }));
  }

  frequencies(stems: readonly string[]): { passages: number; found: Map<string, number> } {
    const found = new Map<string, number>();
    for (const stem of new Set(stems)) {
      const known = this.#counts.get(stem);
      const row =
        known ??
        this.#db.get('SELECT count(*) AS n FROM words WHERE words MATCH ?', anyOf([indexed(stem)]))?.n;
      this.#counts.set(stem, numberOf(row));
      found.set(stem, numberOf(row));
    }
    return { passages: numberOf(this.#db.get('SELECT count(*) AS n FROM passage')?.n), found };
  }

  vocabulary(prefix: string, length: { min: number; max: number }): readonly string[] {
    const sql = 'SELECT stem FROM word WHERE stem >= ? AND stem < ? AND length(stem) BETWEEN ? AND ?';
    return this.#db
      .all(sql, prefix, `${prefix}\u{10ffff}`, length.min, length.max)
      .map((row) => textOf(row.stem));
  }

  /** Brings the index up to date with the project in small steps; callers that come in the meantime share the work. */
  async update(options: UpdateOptions = {}): Promise<void> {
    for (;;) {
      options.signal?.throwIfAborted();
      const other = this.#updating;
      if (!other) {
        this.#updating = this.#update(options).finally(() => {
          this.#updating = undefined;
        });
        await this.#updating;
        return;
      }
      // The caller that began may stop early or look less closely, so this goes round until it is true for this caller.
      const done = await other.then(
        () => true,
        () => false,
      );
      if (done && !options.verify) return;
    }
  }

  close(): void {
    this.#closing.abort();
    this.#db.close();
  }

  /**
   * An edit in QualCoder that keeps the length of a text is seen only by reading it. That takes a second for a large
   * project, so it
   * is done once, behind the first answer.
   */
  #verifyOnce(): void {
    if (this.#verified) return;
    this.#verified = true;
    const { signal } = this.#closing;
    const later = setTimeout(() => {
      if (!signal.aborted) this.update({ verify: true, signal }).catch(() => {});
    }, 1000);
    later.unref();
  }

  #hits(query: Query, reach: number, only: string, limit: number) {
    return this.#db.all(
      `SELECT p.source, p.start, p.stop, w.score FROM
         (SELECT rowid, ${query.ranked ? 'rank' : '0'} AS score FROM words WHERE words MATCH ?
          ${query.ranked ? 'ORDER BY rank' : ''} LIMIT ${reach}) w
       JOIN passage p ON p.id = w.rowid JOIN indexed i ON i.source = p.source AND i.run = p.run
       ${only} ORDER BY w.score LIMIT ?`,
      query.match,
      limit,
    );
  }

  /** The rarest words first, as many as can be ranked in good time; a word that stands nearly everywhere ranks nothing. */
  #telling(stems: readonly string[]): Query {
    const present = [...this.frequencies(stems).found]
      .filter(([, count]) => count > 0)
      .sort((a, b) => a[1] - b[1]);
    let sum = 0;
    const chosen = present.filter(([, count], at) => {
      sum += count;
      return at === 0 || sum <= RANKED;
    });
    if (chosen.length === 0) return { match: anyOf(stems), ranked: false };
    return { match: anyOf(chosen.map(([stem]) => stem)), ranked: (chosen[0]?.[1] ?? 0) <= RANKED };
  }

  async #update({ signal, progress, verify }: UpdateOptions): Promise<void> {
    const sources = this.#texts.sources().filter((source) => source.hasText);
    const known = new Map(
      this.#db.all('SELECT source, bytes, hash FROM indexed').map((row) => [numberOf(row.source), row]),
    );
    const present = new Set(sources.map(({ id }) => id));
    for (const id of known.keys()) if (!present.has(id)) this.#forget(id);
    let done = 0;
    const pace = new Pace(this.#closing.signal);
    for (const source of sources) {
      signal?.throwIfAborted();
      this.#closing.signal.throwIfAborted();
      const entry = known.get(source.id);
      const sameSize = entry !== undefined && numberOf(entry.bytes) === source.bytes;
      if (!sameSize || verify) {
        await this.#texts.loadText(source.id);
        const text = this.#texts.text(source.id);
        const hash = await textHash(text?.value ?? '', pace);
        if (!sameSize || textOf(entry.hash) !== hash) await this.#index(source, text, hash, signal);
        await pace.rest();
      }
      done += 1;
      progress?.(done, sources.length);
    }
  }

  async #index(
    source: { id: number; bytes: number },
    text: SourceText | undefined,
    hash: string,
    signal?: AbortSignal,
  ): Promise<void> {
    for (;;) {
      if (this.#holds(source, hash)) return;
      const run = randomUUID();
      const written = await this.#passages(source.id, run, text, signal);
      if (this.#settle(source, hash, run, written)) return;
    }
  }

  /** Another process may have indexed it in the meantime. */
  #holds({ id, bytes }: { id: number; bytes: number }, hash: string): boolean {
    const row = this.#db.get('SELECT bytes, hash FROM indexed WHERE source = ?', id);
    return row !== undefined && numberOf(row.bytes) === bytes && textOf(row.hash) === hash;
  }

  async #passages(
    source: number,
    run: string,
    text: SourceText | undefined,
    signal?: AbortSignal,
  ): Promise<number> {
    let written = 0;
    let slice: { start: number; end: number; stems: string[] }[] = [];
    const write = () => {
      this.#write(source, run, slice);
      written += slice.length;
      slice = [];
    };
    for (const { start, end } of passages(text?.value ?? '')) {
      slice.push({
        start: text?.fromUnits(start) ?? 0,
        end: text?.fromUnits(end) ?? 0,
        stems: stemsOf(text?.value.slice(start, end) ?? ''),
      });
      if (slice.length < SLICE) continue;
      write();
      await yieldToEventLoop(undefined, signal ? { signal } : undefined);
    }
    write();
    return written;
  }

  /**
   * Only now the new passages count and all others of the source go: those of before, and those of a process that
   * died or is not
   * done yet. False when another process did that to ours.
   */
  #settle(source: { id: number; bytes: number }, hash: string, run: string, written: number): boolean {
    let settled = true;
    this.#transaction(() => {
      const mine = 'FROM passage WHERE source = ? AND run = ?';
      const whole = numberOf(this.#db.get(`SELECT count(*) AS n ${mine}`, source.id, run)?.n) === written;
      if (whole && !this.#holds(source, hash)) {
        this.#db.run(
          'INSERT OR REPLACE INTO indexed (source, bytes, hash, run) VALUES (?, ?, ?, ?)',
          source.id,
          source.bytes,
          hash,
          run,
        );
        this.#drop(source.id, run);
        return;
      }
      settled = this.#holds(source, hash);
      this.#db.run(`DELETE FROM words WHERE rowid IN (SELECT id ${mine})`, source.id, run);
      this.#db.run(`DELETE ${mine}`, source.id, run);
    });
    return settled;
  }

  #write(
    source: number,
    run: string,
    slice: readonly { start: number; end: number; stems: string[] }[],
  ): void {
    if (slice.length === 0) return;
    const added = new Set<string>();
    this.#transaction(() => {
      for (const { start, end, stems } of slice) {
        const { lastInsertRowid } = this.#db.run(
          'INSERT INTO passage (source, run, start, stop) VALUES (?, ?, ?, ?)',
          source,
          run,
          start,
          end,
        );
        this.#db.run(
          'INSERT INTO words (rowid, stems) VALUES (?, ?)',
          lastInsertRowid,
          stems.map(indexed).join(' '),
        );
      }
      for (const stem of slice.flatMap(({ stems }) => stems)) {
        if (this.#stored.has(stem)) continue;
        this.#db.run('INSERT OR IGNORE INTO word (stem) VALUES (?)', indexed(stem));
        added.add(stem);
      }
    });
    for (const stem of added) this.#stored.add(stem);
  }

  #forget(source: number): void {
    this.#transaction(() => {
      this.#db.run('DELETE FROM indexed WHERE source = ?', source);
      this.#drop(source, '');
    });
  }

  #drop(source: number, keep: string): void {
    this.#db.run(
      'DELETE FROM words WHERE rowid IN (SELECT id FROM passage WHERE source = ? AND run <> ?)',
      source,
      keep,
    );
    this.#db.run('DELETE FROM passage WHERE source = ? AND run <> ?', source, keep);
  }

  #transaction(work: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE');
    this.#counts.clear();
    try {
      work();
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#db.exec('ROLLBACK');
      throw error;
    }
  }
}

export interface UpdateOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (done: number, total: number) => void;
  /** Also compares the content of sources whose size has not changed. */
  readonly verify?: boolean;
}

/** An apostrophe would split the word inside SQLite. */
const indexed = (stem: string): string => stem.replaceAll("'", '');

const anyOf = (stems: readonly string[]): string => stems.map((stem) => `"${stem}"`).join(' OR ');
