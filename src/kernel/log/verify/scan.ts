import type { JsonObject } from '../../../contract/json.ts';
import type { Database } from '../../store/database.ts';
import type { ArtifactStore } from '../artifacts.ts';
import type { Entry } from '../entry.ts';
import { ArtifactCheck } from './artifacts.ts';
import { CallHistoryCheck } from './call-history.ts';
import { CallRowCheck } from './call-rows.ts';
import { CheckpointCheck } from './checkpoints.ts';
import { CHUNK, CHUNK_LEVEL, type Chunk } from './chunks.ts';
import { ClockCheck } from './clock.ts';
import { nameDamage } from './damage.ts';
import { KeyCheck } from './keys.ts';
import { type FoundEntry, readPage } from './pages.ts';
import { PasskeyCheck } from './passkeys.ts';
import { PayloadCheck } from './payloads.ts';
import type { Problems } from './report.ts';
import { StateRows } from './state-rows.ts';
import { TreeCheck } from './tree.ts';

/** Small enough for the processor's cache, large enough that the cost of a query does not count; divides a chunk. */
export const PAGE = 256;

export interface ScanOptions {
  readonly publicKeys: readonly string[];
  readonly outside: readonly string[];
  readonly largestStored: number;
  readonly artifacts: ArtifactStore | undefined;
  readonly rows: boolean;
  /** Fingerprints of passkeys the caller vouches for. */
  readonly signers: readonly string[];
  /** Signatures that people kept outside of the store. */
  readonly receipts: readonly JsonObject[];
}

/** Everything that is checked while the log is read from its first entry to its last. */
export class Scan {
  readonly tree: TreeCheck;
  readonly keys: KeyCheck;
  readonly checkpoints: CheckpointCheck;
  readonly story: CallHistoryCheck;
  readonly payloads: PayloadCheck;
  readonly artifacts: ArtifactCheck;
  readonly calls: CallRowCheck | undefined;
  readonly rows: StateRows | undefined;
  readonly passkeys: PasskeyCheck;
  readonly clock = new ClockCheck();
  readonly #database: Database;
  readonly #problems: Problems;
  /** The next size at which a checkpoint is to be compared. */
  #awaited = 0;

  constructor(database: Database, problems: Problems, options: ScanOptions) {
    const { publicKeys, outside, largestStored } = options;
    this.#database = database;
    this.#problems = problems;
    this.tree = new TreeCheck(problems);
    this.keys = new KeyCheck(publicKeys, problems);
    this.checkpoints = new CheckpointCheck(database, this.keys, problems, { outside, largestStored });
    this.story = new CallHistoryCheck(problems);
    this.passkeys = new PasskeyCheck(problems, options.signers, options.receipts);
    this.payloads = new PayloadCheck(database, problems);
    this.artifacts = new ArtifactCheck(database, options.artifacts, problems);
    this.calls = options.rows ? new CallRowCheck(database, problems) : undefined;
    this.rows = options.rows ? new StateRows(database, problems) : undefined;
  }

  async begin(): Promise<void> {
    await this.#awaitNext();
    await this.#named('The signatures', () => this.passkeys.begin(this.#database));
  }

  /** Reads one page entry by entry; false when the store has none of it. */
  async readPage(start: number, end: number, isLast: boolean): Promise<boolean> {
    let page: FoundEntry[] = [];
    const range = { from: start, to: end - 1 };
    const read = async () => {
      page = await readPage(this.#database, start, end, this.#problems);
    };
    await nameDamage(this.#problems, `Entries ${start} to ${end - 1}`, read, range);
    for (const { seq, leaf, entry } of page) {
      await this.#comparePassed(seq);
      this.tree.append(seq, leaf);
      if (!entry) continue;
      this.clock.take(seq, entry);
      this.#take(seq, leaf, entry);
    }
    await this.#checkPage(isLast);
    return page.length > 0;
  }

  /** Takes over a chunk that was found in order; false when it has to be read entry by entry all the same. */
  async takeChunk(index: number, chunk: Chunk): Promise<boolean> {
    const { leaves, root, plain, verified, unkept, earliest, latest, others } = chunk;
    if (!this.clock.skip(earliest, latest)) return false;
    const start = index * CHUNK;
    const end = start + CHUNK;
    const leafAt = (seq: number) => leaves.slice((seq - start) * 64, (seq - start + 1) * 64);
    await this.#named('The tree of the log', () => this.tree.checkNodes(this.#database, true));
    await this.#comparePassed(start);
    if (this.#awaited < end || this.passkeys.awaited < end) {
      // A checkpoint within the chunk: its root needs the leaves before it, and its key the entries.
      const bySeq = new Map(others.map(({ seq, entry }) => [seq, entry]));
      for (let seq = start; seq < end; seq += 1) {
        await this.#comparePassed(seq);
        this.tree.append(seq, leafAt(seq));
        const entry = bySeq.get(seq);
        if (entry) this.#take(seq, leafAt(seq), entry);
      }
    } else {
      this.tree.appendSubtree(CHUNK_LEVEL, root);
      for (const { seq, entry } of others) this.#take(seq, leafAt(seq), entry);
    }
    this.story.skip(plain);
    this.payloads.add(verified, unkept);
    this.rows?.skipTo(end);
    await this.#checkPage(true);
    return true;
  }

  async end(size: number): Promise<void> {
    this.#passHeads(size);
    this.passkeys.finish(size);
    if (this.#awaited === size) this.checkpoints.check(size, this.tree.rootAt(size));
    await this.#named('The checkpoints', () => this.checkpoints.finish(size));
  }

  #passHeads(seq: number): void {
    while (this.passkeys.awaited <= seq) {
      const size = this.passkeys.awaited;
      this.passkeys.root(size, this.tree.rootAt(size));
    }
  }

  async #comparePassed(seq: number): Promise<void> {
    this.#passHeads(seq);
    while (this.#awaited <= seq) {
      this.checkpoints.check(this.#awaited, this.tree.rootAt(this.#awaited));
      await this.#awaitNext();
    }
  }

  /** None is awaited any more where the checkpoints cannot be read. */
  async #awaitNext(): Promise<void> {
    this.#awaited = Number.POSITIVE_INFINITY;
    await this.#named('The checkpoints', async () => {
      this.#awaited = await this.checkpoints.next();
    });
  }

  #take(seq: number, leaf: string, entry: Entry): void {
    if (entry.kind === 'checkpoint-key') {
      this.keys.record(seq, entry);
      this.checkpoints.require(seq + 1);
    }
    this.story.take(seq, entry);
    this.passkeys.take(seq, leaf, entry);
    this.payloads.take(seq, entry);
    this.artifacts.take(seq, entry);
    this.calls?.take(seq, leaf, entry);
    this.rows?.take(seq, entry);
  }

  async #checkPage(isLast: boolean): Promise<void> {
    const { tree, payloads, artifacts, calls } = this;
    await this.#named('The tree of the log', () => tree.checkNodes(this.#database, isLast));
    await this.#named('The payloads', () => payloads.checkPage());
    await this.#named('The artifacts', () => artifacts.checkPage());
    if (calls) await this.#named('The rows of calls', () => calls.checkPage());
  }

  #named(what: string, work: () => Promise<void>): Promise<void> {
    return nameDamage(this.#problems, what, work);
  }
}
