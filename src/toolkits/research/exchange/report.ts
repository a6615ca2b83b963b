import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ToolError } from '../../../contract/errors.ts';

/** What an import or export had to change or leave out, said so that a researcher can check it. */
export interface ExchangeNote {
  readonly kind: 'repaired' | 'lost';
  /** In plain words, without numbers: notes of the same kind are counted. */
  readonly what: string;
  readonly count: number;
  /** Names of what it happened to, the first few. */
  readonly where: readonly string[];
}

const SHOWN = 5;
const LOST_CODINGS = 'Codings lost in total';

export class ExchangeReport {
  readonly #notes = new Map<
    string,
    { kind: ExchangeNote['kind']; what: string; count: number; where: string[] }
  >();

  repaired(what: string, where = '', count = 1): void {
    this.#add('repaired', what, where, count);
  }

  lost(what: string, where = '', count = 1): void {
    this.#add('lost', what, where, count);
  }

  /** Codings that go with what was lost; a researcher wants one number for them. */
  lostCodings(count: number, where = ''): void {
    this.#add('lost', LOST_CODINGS, where, count);
  }

  notes(): ExchangeNote[] {
    const notes = [...this.#notes.values()];
    return [
      ...notes.filter(({ what }) => what !== LOST_CODINGS),
      ...notes.filter(({ what }) => what === LOST_CODINGS),
    ];
  }

  #add(kind: ExchangeNote['kind'], what: string, where: string, count: number): void {
    if (count <= 0) return;
    const key = `${kind} ${what}`;
    const note = this.#notes.get(key) ?? { kind, what, count: 0, where: [] };
    note.count += count;
    if (where && note.where.length < SHOWN && !note.where.includes(where)) note.where.push(where);
    this.#notes.set(key, note);
  }
}

/** How long work reports progress and learns that it should stop. */
export interface Working {
  readonly signal?: AbortSignal;
  readonly progress?: (message: string, done: number, total: number) => void;
}

/** A name that is not taken yet: `Interview`, `Interview (2)`. A file's ending stays at the end. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(wanted)) return wanted;
  const ending = /\.[A-Za-z0-9]{1,5}$/.exec(wanted)?.[0] ?? '';
  const base = wanted.slice(0, wanted.length - ending.length);
  for (let n = 2; ; n += 1) {
    const name = `${base} (${n})${ending}`;
    if (!isTaken(name)) return name;
  }
}

/** A bare file name that every file system takes. */
export function safeFileName(name: string): string {
  const bare = name
    .replace(/[\p{Cc}/\\:*?"<>|]+/gu, '_')
    .replace(/^[.\s]+|[.\s]+$/g, '')
    .trim();
  return bare ? shortened(bare) : 'file';
}

const LONGEST = 120;

function shortened(name: string): string {
  const ending = /\.[A-Za-z0-9]{1,5}$/.exec(name)?.[0] ?? '';
  return name.length > LONGEST ? `${name.slice(0, LONGEST - ending.length).toWellFormed()}${ending}` : name;
}

/** The text of a file in any encoding, exactly as it stands there: byte order mark and line ends are kept. */
export interface DecodedText {
  readonly text: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  readonly bom: boolean;
}

export function decodeText(bytes: Uint8Array): DecodedText {
  if (starts(bytes, 0xef, 0xbb, 0xbf)) return { text: read(bytes, 'utf-8'), encoding: 'utf-8', bom: true };
  if (starts(bytes, 0xff, 0xfe)) return { text: read(bytes, 'utf-16le'), encoding: 'utf-16le', bom: true };
  if (starts(bytes, 0xfe, 0xff)) return { text: read(bytes, 'utf-16be'), encoding: 'utf-16be', bom: true };
  const wide = guessWide(bytes);
  if (wide) return { text: read(bytes, wide), encoding: wide, bom: false };
  try {
    return {
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
      encoding: 'utf-8',
      bom: false,
    };
  } catch {
    return { text: read(bytes, 'windows-1252'), encoding: 'windows-1252', bom: false };
  }
}

const read = (bytes: Uint8Array, encoding: string): string =>
  new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);

const starts = (bytes: Uint8Array, ...mark: number[]): boolean =>
  mark.every((byte, at) => bytes[at] === byte);

/** Latin text in UTF-16 has a zero in every second byte; no text in another encoding does. */
function guessWide(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const looked = Math.min(bytes.length - (bytes.length % 2), 2000);
  if (looked < 4) return undefined;
  let even = 0;
  let odd = 0;
  for (let at = 0; at < looked; at += 2) {
    if (bytes[at] === 0) even += 1;
    if (bytes[at + 1] === 0) odd += 1;
  }
  const most = looked / 2;
  if (odd > most * 0.4 && even < odd * 0.25) return 'utf-16le';
  return even > most * 0.4 && odd < even * 0.25 ? 'utf-16be' : undefined;
}

/** Writes a file whole or not at all: under another name first, synced, then renamed. */
export async function writeFileWhole(
  path: string,
  body: Readable | string | Uint8Array,
  signal?: AbortSignal,
): Promise<void> {
  const draft = `${path}.${process.pid}.partial`;
  try {
    await pipeline(
      typeof body === 'string' || body instanceof Uint8Array ? [body] : body,
      createWriteStream(draft, { mode: 0o600 }),
      { signal },
    );
    const file = await open(draft, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    signal?.throwIfAborted();
    if (error instanceof ToolError) throw error;
    throw new ToolError('file_read_error', `The file ${path} could not be written.`, { cause: error });
  }
}
