import type { Database } from '../../store/database.ts';
import type { ArtifactStore } from '../artifacts.ts';
import { artifactId, type Entry, type EntryArtifact } from '../entry.ts';
import type { Problems } from './report.ts';

interface Reference {
  readonly seq: number;
  readonly call: string;
  readonly artifact: EntryArtifact;
}

/** Compares the artifacts that entries name with the files and rows that are kept. */
export class ArtifactCheck {
  readonly #database: Database;
  readonly #store: ArtifactStore | undefined;
  readonly #problems: Problems;
  #page: Reference[] = [];
  /** The same bytes are often named many times and need to be hashed once. */
  readonly #checked = new Set<string>();
  readonly #gone = new Map<string, { readonly seq: number; readonly why: string }>();
  readonly #erased = new Set<string>();
  #verified = 0;

  constructor(database: Database, store: ArtifactStore | undefined, problems: Problems) {
    this.#database = database;
    this.#store = store;
    this.#problems = problems;
  }

  get counts(): { verified: number; erased: number } {
    return { verified: this.#verified, erased: this.#gone.size };
  }

  take(seq: number, { kind, call, artifacts, extra }: Entry): void {
    if (kind === 'erasure') this.#learn(extra?.artifacts);
    for (const artifact of artifacts ?? []) this.#page.push({ seq, call: call ?? '', artifact });
  }

  async checkPage(): Promise<void> {
    const page = this.#page;
    if (page.length === 0) return;
    this.#page = [];
    const links = await this.#links(page);
    for (const { seq, call, artifact } of page) {
      const id = artifactId(artifact);
      const name = typeof artifact === 'string' ? undefined : artifact.name;
      const names = links.get(`${call}|${id}`) ?? [];
      if (names.length === 0) this.#miss(id, seq, 'is no longer linked to its call');
      else if (name !== undefined && !names.includes(name)) {
        this.#problems.add(
          'artifact',
          seq,
          `Entry ${seq}: artifact ${id} was called ${name}, but its link says ${names[0]}.`,
        );
      }
      if (this.#checked.has(id)) continue;
      this.#checked.add(id);
      await this.#check(seq, id);
    }
  }

  finish(later: readonly Entry[]): void {
    for (const { extra } of later) this.#learn(extra?.artifacts);
    for (const [id, { seq, why }] of this.#gone) {
      if (this.#erased.has(id)) continue;
      this.#problems.add(
        'artifact',
        seq,
        `Entry ${seq}: artifact ${id} ${why}, and the log has no record of its erasure.`,
      );
    }
  }

  async #check(seq: number, id: string): Promise<void> {
    const row = await this.#database.db
      .selectFrom('artifacts')
      .select('size')
      .where('id', '=', id)
      .executeTakeFirst();
    if (!row) return this.#miss(id, seq, 'has lost its row');
    if (!this.#store) return;
    const state = await this.#store.check(id);
    if (state === 'missing') return this.#miss(id, seq, 'has lost its file');
    const size = await this.#store.size(id);
    if (state === 'changed')
      this.#problems.add('artifact', seq, `Entry ${seq}: the file of artifact ${id} was changed.`);
    else if (size !== row.size) {
      this.#problems.add(
        'artifact',
        seq,
        `Entry ${seq}: artifact ${id} has ${size} bytes, but its row says ${row.size}.`,
      );
    } else this.#verified += 1;
  }

  #miss(id: string, seq: number, why: string): void {
    if (!this.#gone.has(id)) this.#gone.set(id, { seq, why });
  }

  #learn(ids: unknown): void {
    if (Array.isArray(ids)) for (const id of ids) if (typeof id === 'string') this.#erased.add(id);
  }

  async #links(page: readonly Reference[]): Promise<Map<string, string[]>> {
    const links = new Map<string, string[]>();
    const calls = [...new Set(page.map(({ call }) => call))];
    while (calls.length > 0) {
      const rows = await this.#database.db
        .selectFrom('call_artifacts')
        .selectAll()
        .where('call_id', 'in', calls.splice(0, 500))
        .execute();
      for (const { call_id, artifact_id, name } of rows) {
        const key = `${call_id}|${artifact_id}`;
        links.set(key, [...(links.get(key) ?? []), name]);
      }
    }
    return links;
  }
}
