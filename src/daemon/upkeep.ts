import type { App } from '../app/app.ts';
import { expireDue } from '../kernel/approvals/expire.ts';
import { erasePayloads } from '../kernel/log/index.ts';
import { sweepExpired } from '../kernel/store/sweep.ts';

const UPKEEP_MS = 15_000;
const DAY_MS = 86_400_000;

/** Keeps the store in order: policy, interrupted calls, what has expired, and retention. */
export class Upkeep {
  readonly #app: App;
  #busy = false;
  #erasedAt = 0;

  constructor(app: App) {
    this.#app = app;
  }

  start(): NodeJS.Timeout {
    void this.run();
    return setInterval(() => void this.run(), UPKEEP_MS);
  }

  /** One round; does nothing while another runs. */
  async run(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    const { policy, kernel, database, log } = this.#app;
    try {
      await policy.refresh();
      await kernel.recover();
      await expireDue(kernel.queue);
      await kernel.events.prune();
      await kernel.updateStats();
      await sweepExpired(database, this.#app);
      await this.#erase();
    } catch (error) {
      log.error('Database maintenance failed', { error });
    } finally {
      this.#busy = false;
    }
  }

  async #erase(): Promise<void> {
    const { config, database, kernel, now } = this.#app;
    const { retention_days: days } = config.audit;
    if (days === 0 || Date.now() - this.#erasedAt <= DAY_MS) return;
    this.#erasedAt = Date.now();
    const before = new Date(now().getTime() - days * DAY_MS);
    await erasePayloads(
      database,
      { before },
      { artifacts: kernel.artifacts, principal: 'system:retention', now: now() },
    );
  }
}
