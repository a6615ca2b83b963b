import { setImmediate } from 'node:timers/promises';
import type { ProjectWriter } from '../../project/types.ts';
import type { ExchangeReport, Working } from '../report.ts';
import { fromRefiDate, IMPORTANT_NOTE, ORIGIN } from './conventions.ts';
import type { RefiMade, RefiProject } from './model.ts';

/** Everything that was read from the archive before the transaction begins, which should not last. */
export interface RefiContents {
  readonly refi: RefiProject;
  /** Decoded text by path in the XML. */
  readonly texts: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Page heights of PDF sources by guid. */
  readonly pageHeights: ReadonlyMap<string, readonly number[]>;
}

/** What all parts of an import share. */
export class ImportContext {
  readonly project: ProjectWriter;
  readonly contents: RefiContents;
  readonly report: ExchangeReport;
  codes: ReadonlyMap<string, number> = new Map();
  cases: ReadonlyMap<string, number> = new Map();
  /** Where a selection came to lie, for cases that refer to it. */
  readonly selections = new Map<
    string,
    {
      readonly sourceId: number;
      readonly start: number;
      readonly end: number;
      readonly memo: string;
      readonly stamp: Stamp;
    }
  >();
  /** Selections that belong to a case and are therefore no annotations. */
  readonly ofCases: ReadonlySet<string>;
  readonly sources = new Map<string, number>();
  /** Documents by the path of their text. */
  readonly texts = new Map<string, { readonly id: number; readonly name: string }>();
  readonly journals = new Map<string, number>();
  added = { sources: 0, codings: 0, annotations: 0 };
  readonly #working: Working;
  readonly #users: ReadonlyMap<string, string>;
  readonly #usedNotes = new Set<string>();
  /** ATLAS.ti and NVivo say with a link which note belongs to what. */
  readonly #linkedNotes = new Map<string, string[]>();

  constructor(project: ProjectWriter, contents: RefiContents, report: ExchangeReport, working: Working = {}) {
    this.project = project;
    this.#working = working;
    this.contents = contents;
    this.report = report;
    this.#users = new Map(contents.refi.users.map(({ guid, name }) => [guid, name.trim()]));
    const notes = new Set(contents.refi.notes.map(({ guid }) => guid));
    for (const { origin, target } of contents.refi.links) {
      if (notes.has(origin) === notes.has(target)) continue;
      const [note, other] = notes.has(origin) ? [origin, target] : [target, origin];
      this.#linkedNotes.set(other, [...(this.#linkedNotes.get(other) ?? []), note]);
    }
    this.ofCases = new Set(contents.refi.cases.flatMap(({ selectionRefs }) => selectionRefs));
  }

  get refi(): RefiProject {
    return this.contents.refi;
  }

  /** Lets other calls have their turn, and stops here when no one waits any more. */
  async yieldToEventLoop(): Promise<void> {
    await setImmediate();
    this.#working.signal?.throwIfAborted();
  }

  /** Owner and date of something; what is missing is left to the import itself. */
  stamp(made: RefiMade, fallback: RefiMade = {}): Stamp {
    const owner = this.#users.get(made.user ?? fallback.user ?? '');
    const written = made.date ?? fallback.date;
    const date = written === undefined ? undefined : fromRefiDate(written);
    if (date === undefined)
      this.report.repaired('Used the time of the import for an item without a usable date');
    return { ...(owner ? { owner } : {}), ...(date ? { date } : {}) };
  }

  /** The text of the notes that belong to something, joined, to go into its memo. */
  notes = ({ guid, noteRefs }: Noted): string => {
    const texts = [...noteRefs, ...(this.#linkedNotes.get(guid) ?? [])].map((ref) => {
      this.#usedNotes.add(ref);
      const note = this.refi.notes.find(({ guid }) => guid === ref);
      return note && !this.#isMark(note.guid) ? this.noteText(note) : '';
    });
    return texts.filter(Boolean).join('\n\n');
  };

  /** Links whose note went into a memo. */
  get linksUsed(): number {
    return [...this.#linkedNotes.values()].flat().filter((note) => this.#usedNotes.has(note)).length;
  }

  isImportant(refs: readonly string[]): boolean {
    return refs.some((ref) => this.#isMark(ref));
  }

  noteText(note: RefiProject['notes'][number]): string {
    const text = note.content ?? this.contents.texts.get(note.plainTextPath ?? '') ?? '';
    return [note.description, text].filter(Boolean).join('\n\n');
  }

  /** Notes nothing refers to are the researcher's journal. */
  freeNotes(): RefiProject['notes'] {
    const marks = this.refi.notes.filter(({ guid }) => this.#isMark(guid)).map(({ guid }) => guid);
    return this.refi.notes.filter(({ guid }) => !this.#usedNotes.has(guid) && !marks.includes(guid));
  }

  #isMark(guid: string): boolean {
    return (
      this.refi.origin === ORIGIN &&
      this.refi.notes.some((note) => note.guid === guid && note.name === IMPORTANT_NOTE)
    );
  }
}

export interface Noted {
  readonly guid: string;
  readonly noteRefs: readonly string[];
}

export interface Stamp {
  readonly owner?: string;
  readonly date?: string;
}

export const joinMemo = (...parts: readonly string[]): string =>
  parts.filter((part) => part !== '').join('\n\n');
