import { spawn } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';

const LOOK_MS = 200;
/** Measuring a folder takes time; at most this share of the time is spent on it. */
const SHARE = 10;
/** What a command leaves free on the disk, where the audit log is too. */
const RESERVE_BYTES = 268_435_456;
const RESERVE_SHARE = 0.05;

/** Watches what a command writes to its folder, and says once why it must stop. */
export class DiskWatch {
  readonly #folder: string;
  readonly #limit: number;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #measureAt = 0;
  #reason: string | undefined;

  constructor(folder: string, limit: number, onExceeded: () => void) {
    this.#folder = folder;
    this.#limit = limit;
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
        if (this.#reason === undefined) return;
        clearInterval(this.#timer);
        onExceeded();
      });
    }, LOOK_MS);
  }

  /** Ends the watch. A command that failed is measured once more: the system may have refused it the last bytes. */
  async end(hasFailed: boolean): Promise<string | undefined> {
    clearInterval(this.#timer);
    await this.#looking;
    if (hasFailed && this.#reason === undefined) await this.#measure();
    return this.#reason;
  }

  async #look(): Promise<void> {
    const disk = await statfs(this.#folder).catch(() => undefined);
    if (disk) {
      const reserve = Math.min(RESERVE_BYTES, disk.blocks * disk.bsize * RESERVE_SHARE);
      if (disk.bavail * disk.bsize < reserve) {
        this.#reason = `It was stopped because the disk of the data directory has less than ${Math.floor(reserve)} bytes free.`;
        return;
      }
    }
    const started = performance.now();
    if (started < this.#measureAt) return;
    await this.#measure();
    const now = performance.now();
    this.#measureAt = now + SHARE * (now - started);
  }

  async #measure(): Promise<void> {
    const size = await sizeOf(this.#folder);
    if (size < this.#limit) return;
    this.#reason = `It was stopped because its directory has ${size} bytes; dev.qa.disk_limit_bytes is ${this.#limit}.`;
  }
}

/** In a process of its own, which does not delay other calls. What cannot be read does not count. */
function sizeOf(folder: string): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn('du', ['-sk', folder], { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
    child.on('error', () => resolve(0));
    child.on('close', () => resolve((Number.parseInt(text, 10) || 0) * 1024));
  });
}

/** The command with a limit on the size of each file: one call could otherwise fill the disk before anyone looks. */
export const limitFiles = (argv: readonly string[], bytes: number): string[] => [
  ...['sh', '-c', 'ulimit -f "$0" 2>/dev/null; exec "$@"', String(Math.ceil(bytes / 512))],
  ...argv,
];
