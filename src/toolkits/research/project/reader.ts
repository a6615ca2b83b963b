import { basename } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  toAnnotation,
  toAttribute,
  toAttributeType,
  toCase,
  toCategory,
  toCode,
  toImageCoding,
  toJournal,
  toMediaCoding,
  toSource,
} from './rows.ts';
import {
  bytesOf,
  type Cell,
  numberOf,
  optionalNumber,
  type ProjectSchema,
  type Row,
  type SqliteFile,
  textOf,
} from './schema.ts';
import { type IndexedText, indexText, TextBuilder } from './source-text.ts';
import type * as project from './types.ts';
import {
  locate,
  locateBlind,
  type StoredRange,
  type StoredUnit,
  settleUnit,
  unifyLineEnds,
} from './units.ts';

export interface CachedText {
  readonly text: IndexedText;
  readonly unit: StoredUnit;
}

/** The texts read last, up to a number of characters: a page of a large project costs one lookup. */
class TextCache {
  readonly #texts = new Map<number, CachedText>();
  readonly #limit: number;
  #size = 0;

  constructor(limit = 32_000_000) {
    this.#limit = limit;
  }

  get(sourceId: number): CachedText | undefined {
    const found = this.#texts.get(sourceId);
    if (!found) return undefined;
    this.#texts.delete(sourceId);
    this.#texts.set(sourceId, found);
    return found;
  }

  put(sourceId: number, item: CachedText): void {
    this.drop(sourceId);
    this.#texts.set(sourceId, item);
    this.#size += item.text.value.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#size <= this.#limit || oldest === sourceId) break;
      this.drop(oldest);
    }
  }

  drop(sourceId: number): void {
    const old = this.#texts.get(sourceId);
    if (!old) return;
    this.#texts.delete(sourceId);
    this.#size -= old.text.value.length;
  }

  clear(): void {
    this.#texts.clear();
    this.#size = 0;
  }
}

type Evidence = StoredRange & { readonly seltext: string };

const SOURCE_COLUMNS =
  'id, name, mediapath, memo, owner, date, av_text_id, risid, fulltext IS NOT NULL AS has_text, octet_length(fulltext) AS bytes';
const OWNERS = [
  'source',
  'code_name',
  'code_cat',
  'code_text',
  'code_image',
  'code_av',
  'annotation',
  'cases',
];

/** Reads a project through one connection; inside a transaction it sees what the transaction has done. */
export class SqliteReader implements project.ProjectReader {
  protected readonly db: SqliteFile;
  protected readonly schema: ProjectSchema;
  readonly #path: string;
  readonly #cache = new TextCache();
  #evidence: Map<number, Evidence[]> | undefined;
  #seen = -1;

  constructor(db: SqliteFile, schema: ProjectSchema, path: string) {
    this.db = db;
    this.schema = schema;
    this.#path = path;
  }

  info(): project.ProjectInfo {
    const row = this.db.get('SELECT date, memo, about, codername FROM project') ?? {};
    return {
      name: basename(this.#path).replace(/\.qda$/i, ''),
      path: this.#path,
      version: this.schema.version,
      memo: textOf(row.memo),
      date: textOf(row.date),
      about: textOf(row.about),
      coderName: textOf(row.codername),
    };
  }

  sources(): readonly project.Source[] {
    return this.db.all(`SELECT ${SOURCE_COLUMNS} FROM source ORDER BY id`).map(toSource);
  }

  source(id: number): project.Source | undefined {
    const row = this.db.get(`SELECT ${SOURCE_COLUMNS} FROM source WHERE id = ?`, id);
    return row && toSource(row);
  }

  text(sourceId: number): project.SourceText | undefined {
    return this.cached(sourceId)?.text;
  }

  categories(): readonly project.Category[] {
    return this.db.all('SELECT * FROM code_cat ORDER BY catid').map(toCategory);
  }

  codes(): readonly project.Code[] {
    return this.db.all('SELECT * FROM code_name ORDER BY cid').map(toCode);
  }

  code(id: number): project.Code | undefined {
    const row = this.db.get('SELECT * FROM code_name WHERE cid = ?', id);
    return row && toCode(row);
  }

  codingCounts(leaveOut?: LeftOut): ReadonlyMap<number, number> {
    return this.#counts('cid', leaveOut);
  }

  sourceCodingCounts(leaveOut?: LeftOut): ReadonlyMap<number, number> {
    return this.#counts('fid', leaveOut);
  }

  codings(filter: project.CodingFilter = {}): readonly project.Coding[] {
    const wanted: (readonly [string, Cell | undefined])[] = [
      ['fid', filter.sourceId],
      ['cid', filter.codeId],
      ['owner', filter.owner],
    ];
    const given = wanted.filter((item): item is readonly [string, Cell] => item[1] !== undefined);
    const where = given.length ? `WHERE ${given.map(([column]) => `${column} = ?`).join(' AND ')}` : '';
    const rows = this.db.all(`${CODING} ${where} ORDER BY fid`, ...given.map(([, value]) => value));
    return rows
      .map((row) => this.#toCoding(row))
      .sort((a, b) => a.sourceId - b.sourceId || a.start - b.start || a.end - b.end || a.id - b.id);
  }

  coding(id: number): project.Coding | undefined {
    const row = this.db.get(`${CODING} WHERE ctid = ?`, id);
    return row && this.#toCoding(row);
  }

  imageCodings(): readonly project.ImageCoding[] {
    return this.db.all('SELECT * FROM code_image ORDER BY imid').map(toImageCoding);
  }

  mediaCodings(): readonly project.MediaCoding[] {
    return this.db.all('SELECT * FROM code_av ORDER BY avid').map(toMediaCoding);
  }

  annotations(sourceId?: number): readonly project.Annotation[] {
    const rows =
      sourceId === undefined
        ? this.db.all('SELECT * FROM annotation ORDER BY fid, pos0, anid')
        : this.db.all('SELECT * FROM annotation WHERE fid = ? ORDER BY pos0, anid', sourceId);
    return rows.map((row) => toAnnotation(row, this.#blindRange(row)));
  }

  cases(): readonly project.Case[] {
    return this.db.all('SELECT * FROM cases ORDER BY caseid').map(toCase);
  }

  caseTexts(): readonly project.CaseText[] {
    return this.db.all('SELECT * FROM case_text ORDER BY caseid, fid, pos0, id').map((row) => ({
      id: numberOf(row.id),
      caseId: numberOf(row.caseid),
      sourceId: numberOf(row.fid),
      ...this.#blindRange(row),
      memo: textOf(row.memo),
      owner: textOf(row.owner),
      date: textOf(row.date),
    }));
  }

  attributeTypes(): readonly project.AttributeType[] {
    return this.db.all('SELECT * FROM attribute_type ORDER BY name').map(toAttributeType);
  }

  attributes(): readonly project.Attribute[] {
    return this.db.all('SELECT * FROM attribute ORDER BY attrid').map(toAttribute);
  }

  journals(): readonly project.Journal[] {
    return this.db.all('SELECT * FROM journal ORDER BY jid').map(toJournal);
  }

  coders(): readonly { name: string; visible: boolean }[] {
    const owners = OWNERS.map((table) => `SELECT owner FROM ${table}`).join(' UNION ');
    const names = new Map(this.db.all(owners).map((row) => [textOf(row.owner), true]));
    const listed = this.schema.has('coder_names', 'visibility')
      ? this.db.all('SELECT name, visibility FROM coder_names')
      : [];
    for (const row of listed) names.set(textOf(row.name), numberOf(row.visibility) !== 0);
    names.delete('');
    return [...names]
      .map(([name, visible]) => ({ name, visible }))
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  /** A text with its settled unit. Kept until another connection has committed anything. */
  protected cached(sourceId: number): CachedText | undefined {
    this.forgetStale();
    const known = this.#cache.get(sourceId);
    if (known) return known;
    const row = this.db.get(
      'SELECT CAST(fulltext AS BLOB) AS body, mediapath, name FROM source WHERE id = ?',
      sourceId,
    );
    if (!row || (row.body === null && !toSource({ ...row, id: sourceId }).hasText)) return undefined;
    const text = indexText(textOf(row.body));
    const item = { text, unit: settleUnit(text, () => this.#evidenceFor(sourceId)) };
    this.#cache.put(sourceId, item);
    return item;
  }

  async loadText(sourceId: number): Promise<void> {
    this.forgetStale();
    const version = this.#seen;
    if (this.#cache.get(sourceId)) return;
    const { bytes } =
      this.db.get('SELECT octet_length(fulltext) AS bytes FROM source WHERE id = ?', sourceId) ?? {};
    // What is read in a moment is read when it is needed.
    if (numberOf(bytes) <= STEP) return;
    const building = new TextBuilder();
    await nextTurn();
    // Decoded step by step: 30 MB with a few typographic quotation marks would take longer than others may wait.
    const decoder = new StringDecoder('utf8');
    for (let from = 0; from < numberOf(bytes); from += STEP) {
      const sql = 'SELECT substr(CAST(fulltext AS BLOB), ?, ?) AS step FROM source WHERE id = ?';
      const step = this.db.get(sql, from + 1, STEP, sourceId)?.step;
      if (typeof step !== 'object' || step === null) return;
      await nextTurn();
      building.add(decoder.write(bytesOf(step)));
      await nextTurn();
    }
    building.add(decoder.end());
    const text = building.text();
    await nextTurn();
    this.forgetStale();
    // The project was changed since then: the next caller reads it again.
    if (this.#seen !== version || this.#cache.get(sourceId)) return;
    this.#cache.put(sourceId, { text, unit: settleUnit(text, () => this.#evidenceFor(sourceId)) });
  }

  /** Every text that would be read for longer than others may wait. */
  async loadLongTexts(): Promise<void> {
    const rows = this.db.all('SELECT id FROM source WHERE octet_length(fulltext) > ?', STEP);
    for (const { id } of rows) await this.loadText(numberOf(id));
  }

  /** This program alone wrote since the texts were last checked, and no text: they need not be read again. */
  protected keepTexts(): void {
    this.#evidence = undefined;
    this.#seen = Number(this.db.pragma('data_version'));
  }

  protected forgetStale(): void {
    const version = Number(this.db.pragma('data_version'));
    if (version === this.#seen) return;
    this.#cache.clear();
    this.#evidence = undefined;
    this.#seen = version;
  }

  /** All rows in one query: the table has no index by source, so a query per source would read it a thousand times. */
  #evidenceFor(sourceId: number): readonly Evidence[] {
    if (!this.#evidence) {
      this.#evidence = new Map();
      for (const row of this.db.all(
        'SELECT fid, pos0, pos1, CAST(seltext AS BLOB) AS seltext FROM code_text',
      )) {
        const rows = this.#evidence.get(numberOf(row.fid)) ?? [];
        rows.push({ ...rangeOf(row), seltext: textOf(row.seltext) });
        this.#evidence.set(numberOf(row.fid), rows);
      }
    }
    return this.#evidence.get(sourceId) ?? [];
  }

  #toCoding(row: Row): project.Coding {
    const item = this.cached(numberOf(row.fid));
    const stored = textOf(row.seltext);
    const place = item
      ? locate(item.text, item.unit, rangeOf(row), stored)
      : { start: numberOf(row.pos0), end: numberOf(row.pos1), anchored: false };
    return {
      id: numberOf(row.ctid),
      codeId: numberOf(row.cid),
      sourceId: numberOf(row.fid),
      start: place.start,
      end: place.end,
      text: item && place.anchored ? item.text.slice(place.start, place.end) : unifyLineEnds(stored),
      anchored: place.anchored,
      owner: textOf(row.owner),
      date: textOf(row.date),
      memo: textOf(row.memo),
      avCodingId: optionalNumber(row.avid),
      important: numberOf(row.important) > 0,
    };
  }

  #blindRange(row: Row): { start: number; end: number } {
    const item = this.cached(numberOf(row.fid));
    const { pos0, pos1 } = rangeOf(row);
    return item ? locateBlind(item.text, item.unit, { pos0, pos1 }) : { start: pos0, end: pos1 };
  }

  #counts(by: 'cid' | 'fid', { sources, owners }: LeftOut = NOTHING): ReadonlyMap<number, number> {
    const rows = this.db.all(
      `SELECT ${by} AS id, count(*) AS n FROM
       (SELECT cid, fid, owner FROM code_text UNION ALL SELECT cid, id AS fid, owner FROM code_image
        UNION ALL SELECT cid, id AS fid, owner FROM code_av)
       WHERE fid NOT IN (SELECT value FROM json_each(?)) AND coalesce(owner, '') NOT IN (SELECT value FROM json_each(?))
       GROUP BY ${by}`,
      JSON.stringify(sources),
      JSON.stringify(owners),
    );
    return new Map(rows.map((row) => [numberOf(row.id), numberOf(row.n)]));
  }
}

/** Bytes read between two chances for other calls; some ten milliseconds. */
const STEP = 4_000_000;

const NOTHING: LeftOut = { sources: [], owners: [] };

const CODING =
  'SELECT ctid, cid, fid, CAST(seltext AS BLOB) AS seltext, pos0, pos1, owner, date, memo, avid, important FROM code_text';

const rangeOf = (row: Row) => ({ pos0: numberOf(row.pos0), pos1: numberOf(row.pos1) });

/** Codings that are not counted: those on these sources or by these coders. */
export interface LeftOut {
  readonly sources: readonly number[];
  readonly owners: readonly string[];
}
