import type { Log } from '../../../contract/ports.ts';
import type { Database } from '../../store/database.ts';
import { latestCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { Signer } from './signer.ts';

export interface CheckpointWriterOptions {
  readonly database: Database;
  readonly dataDir: string;
  readonly log: Log;
  readonly intervalMs: number;
  /** The name a new log gets. */
  readonly origin?: string;
  readonly now?: () => Date;
}

/** Signs the log on an interval when it grew, and once more at the end. A failure is logged and tried again later. */
export class CheckpointWriter {
  readonly now: () => Date;
  readonly #options: CheckpointWriterOptions;
  #signer: Promise<Signer> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: CheckpointWriterOptions) {
    this.#options = options;
    this.now = options.now ?? (() => new Date());
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.writeIfGrown(), this.#options.intervalMs).unref();
  }

  /** Opened on first use: a process that never signs reads no key. */
  signer(): Promise<Signer> {
    this.#signer ??= this.#open().catch((error) => {
      this.#signer = undefined;
      throw error;
    });
    return this.#signer;
  }

  async #open(): Promise<Signer> {
    const { database, dataDir, origin, log } = this.#options;
    const signer = await Signer.open(database, dataDir, origin, this.now);
    if (origin !== undefined && origin !== signer.key.name) {
      log.warn('audit.origin does not apply: a log keeps the name its first checkpoint was signed with', {
        configured: origin,
        name: signer.key.name,
      });
    }
    return signer;
  }

  writeIfGrown(): Promise<void> {
    this.#running = this.#running.then(async () => {
      const { database, log } = this.#options;
      try {
        const head = await database.db.selectFrom('audit_head').select('size').executeTakeFirst();
        const last = await latestCheckpoint(database);
        if (!head || head.size <= (last?.size ?? 0)) return;
        await writeCheckpoint(database, await this.signer(), this.now);
      } catch (error) {
        log.error('The audit checkpoint could not be written', { error });
      }
    });
    return this.#running;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.writeIfGrown();
  }
}
