import {
  type CollectionName,
  type Collections,
  LINK_COLLECTIONS,
  type LinkCollection,
  type LinkDoc,
} from './documents.ts';
import type { StatePort } from './stored-state.ts';

export interface Change {
  readonly collection: CollectionName;
  readonly id: string;
  /** Undefined: removed. */
  readonly body: Collections[CollectionName] | undefined;
}

interface Before {
  readonly collection: CollectionName;
  readonly id: string;
  readonly body: Collections[CollectionName] | undefined;
}

/** The whole state in memory. Documents are replaced, never edited in place, so a change can be rolled back. */
export class State {
  readonly #data = new Map<CollectionName, Map<string, Collections[CollectionName]>>();
  readonly #links = new Map<LinkCollection, { readonly byFrom: Index; readonly byTo: Index }>();
  readonly #journal = new Map<string, Before>();

  get<N extends CollectionName>(collection: N, id: string): Collections[N] | undefined {
    return this.#of(collection).get(id);
  }

  all<N extends CollectionName>(collection: N): Collections[N][] {
    return [...this.#of(collection).values()];
  }

  put<N extends CollectionName>(collection: N, id: string, body: Collections[N]): void {
    this.#note(collection, id);
    this.#set(collection, id, body);
  }

  remove(collection: CollectionName, id: string): void {
    this.#note(collection, id);
    this.#set(collection, id, undefined);
  }

  link(collection: LinkCollection, from: string, to: string, at: string, rest_id?: string): void {
    this.put(
      collection,
      `${from}:${to}`,
      rest_id === undefined ? { from, to, at } : { from, to, at, rest_id },
    );
  }

  unlink(collection: LinkCollection, from: string, to: string): void {
    if (this.linked(collection, from, to)) this.remove(collection, `${from}:${to}`);
  }

  linked(collection: LinkCollection, from: string, to: string): boolean {
    return this.#of(collection).has(`${from}:${to}`);
  }

  /** Newest first, as X lists them. */
  linksFrom(collection: LinkCollection, from: string): LinkDoc[] {
    return newestFirst(this.#indexes(collection).byFrom.get(from));
  }

  linksTo(collection: LinkCollection, to: string): LinkDoc[] {
    return newestFirst(this.#indexes(collection).byTo.get(to));
  }

  countTo(collection: LinkCollection, to: string): number {
    return this.#indexes(collection).byTo.get(to)?.size ?? 0;
  }

  countFrom(collection: LinkCollection, from: string): number {
    return this.#indexes(collection).byFrom.get(from)?.size ?? 0;
  }

  /** What changed since the last `settle`, to be written to the store. */
  changes(): Change[] {
    return [...this.#journal.values()].map(({ collection, id }) => ({
      collection,
      id,
      body: this.#of(collection).get(id),
    }));
  }

  settle(): void {
    this.#journal.clear();
  }

  rollBack(): void {
    for (const { collection, id, body } of this.#journal.values()) this.#set(collection, id, body);
    this.#journal.clear();
  }

  /** Takes in what another process wrote. */
  load(change: Change): void {
    this.#set(change.collection, change.id, change.body);
  }

  clear(): void {
    this.#data.clear();
    this.#links.clear();
    this.#journal.clear();
  }

  #of<N extends CollectionName>(collection: N): Map<string, Collections[N]> {
    let items = this.#data.get(collection);
    if (!items) {
      items = new Map();
      this.#data.set(collection, items);
    }
    return items as Map<string, Collections[N]>;
  }

  #note(collection: CollectionName, id: string): void {
    const key = `${collection}/${id}`;
    if (!this.#journal.has(key))
      this.#journal.set(key, { collection, id, body: this.#of(collection).get(id) });
  }

  #set(collection: CollectionName, id: string, body: Collections[CollectionName] | undefined): void {
    const items = this.#of(collection) as Map<string, Collections[CollectionName]>;
    if (isLinks(collection))
      this.#reindex(collection, items.get(id) as LinkDoc | undefined, body as LinkDoc | undefined);
    if (body === undefined) items.delete(id);
    else items.set(id, body);
  }

  #reindex(collection: LinkCollection, before: LinkDoc | undefined, after: LinkDoc | undefined): void {
    const { byFrom, byTo } = this.#indexes(collection);
    if (before) {
      byFrom.get(before.from)?.delete(before.to);
      byTo.get(before.to)?.delete(before.from);
    }
    if (after) {
      entry(byFrom, after.from).set(after.to, after);
      entry(byTo, after.to).set(after.from, after);
    }
  }

  #indexes(collection: LinkCollection): { readonly byFrom: Index; readonly byTo: Index } {
    let indexes = this.#links.get(collection);
    if (!indexes) {
      indexes = { byFrom: new Map(), byTo: new Map() };
      this.#links.set(collection, indexes);
    }
    return indexes;
  }
}

type Index = Map<string, Map<string, LinkDoc>>;

const isLinks = (collection: CollectionName): collection is LinkCollection =>
  (LINK_COLLECTIONS as readonly string[]).includes(collection);

function entry(index: Index, key: string): Map<string, LinkDoc> {
  let inner = index.get(key);
  if (!inner) {
    inner = new Map();
    index.set(key, inner);
  }
  return inner;
}

const newestFirst = (links: Map<string, LinkDoc> | undefined): LinkDoc[] =>
  [...(links?.values() ?? [])].sort((a, b) =>
    a.at === b.at ? (a.to < b.to ? 1 : -1) : a.at < b.at ? 1 : -1,
  );

const MAX_ATTEMPTS = 50;

/**
 * The state as one process sees it. Work runs on memory and is committed with compare-and-set: when another process
 * was faster, the work is rolled back and done again on what that one wrote.
 */
export class World {
  readonly #port: StatePort;
  readonly #seed: () => readonly Change[];
  readonly #state = new State();
  #version = -1;
  #epoch = -1;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(port: StatePort, seed: () => readonly Change[]) {
    this.#port = port;
    this.#seed = seed;
  }

  /** One after the other within this process: work must not see what is not committed yet. */
  run<T>(work: (state: State) => T): Promise<T> {
    const mine = this.#turn.then(() => this.#attempt(work));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  reset(): Promise<void> {
    const mine = this.#turn.then(() => this.#port.seed(this.#seed(), this.#epoch));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #attempt<T>(work: (state: State) => T): Promise<T> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      await this.#refresh();
      let result: T;
      try {
        result = work(this.#state);
      } catch (error) {
        this.#state.rollBack();
        throw error;
      }
      const changes = this.#state.changes();
      if (changes.length === 0) return result;
      if (await this.#commit(changes)) return result;
    }
    throw new Error('the sandbox is too busy: other processes keep changing it');
  }

  async #commit(changes: readonly Change[]): Promise<boolean> {
    try {
      if (await this.#port.commit({ version: this.#version, epoch: this.#epoch }, changes)) {
        this.#state.settle();
        this.#version += 1;
        return true;
      }
      this.#state.rollBack();
      return false;
    } catch (error) {
      this.#state.rollBack();
      throw error;
    }
  }

  async #refresh(): Promise<void> {
    let snapshot = await this.#port.read(this.#version, this.#epoch);
    if (!snapshot) {
      await this.#port.seed(this.#seed());
      snapshot = await this.#port.read(this.#version, this.#epoch);
    }
    if (!snapshot) throw new Error('the sandbox state could not be created');
    if (snapshot.epoch !== this.#epoch) this.#state.clear();
    for (const change of snapshot.changes) this.#state.load(change);
    this.#version = snapshot.version;
    this.#epoch = snapshot.epoch;
  }
}
