import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../lib/file-error.ts';
import { hideSecrets } from './secrets.ts';

const MAX_FILE = 512 * 1024;
const MAX_LINE = 16 * 1024;
/** A server that floods its stderr must not keep this process busy writing it down. */
const MAX_PER_SECOND = 256 * 1024;

const folderOf = (dataDir: string): string => join(dataDir, 'servers');
const logPath = (dataDir: string, server: string): string => join(folderOf(dataDir), `${server}.log`);

/** What a server writes to stderr, line by line, without the secrets it was given. */
export class ServerLog {
  readonly #path: string;
  readonly #secrets: () => readonly string[];
  #rest = '';
  /** The line under way is already too long; what is left of it is dropped. */
  #skipping = false;
  #size = 0;
  #second = 0;
  #written = 0;

  constructor(dataDir: string, server: string, secrets: () => readonly string[]) {
    makeFolder(folderOf(dataDir), 0o700);
    this.#path = logPath(dataDir, server);
    this.#secrets = secrets;
    this.#size = sizeOf(this.#path);
  }

  /** Whole lines only: a secret that arrives in two parts would otherwise be seen in none. Nor is one cut in two. */
  write(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#skipping && lines.length > 0) {
      lines.shift();
      this.#skipping = false;
    }
    if (this.#skipping) this.#rest = '';
    for (const line of lines) this.#append(line);
    if (this.#rest.length <= 2 * MAX_LINE) return;
    this.#append(this.#rest);
    this.#rest = '';
    this.#skipping = true;
  }

  #append(line: string): void {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#written = 0;
    }
    this.#written += Math.min(line.length, MAX_LINE);
    if (this.#written > MAX_PER_SECOND) return;
    const shown = hideSecrets(line.slice(0, 2 * MAX_LINE), this.#secrets()).slice(0, MAX_LINE);
    const text = `${new Date().toISOString()} ${shown}\n`;
    try {
      if (this.#size > MAX_FILE) {
        this.#size = 0;
        renameSync(this.#path, `${this.#path}.old`);
      }
      appendFileSync(this.#path, text, { mode: 0o600 });
      this.#size += text.length;
    } catch {
      // A full disk, or a file that another process moved: the server's calls are worth more than its log.
    }
  }
}

/** The last lines a server wrote. */
export function readServerLog(dataDir: string, server: string, lines: number): string[] {
  const path = logPath(dataDir, server);
  const text = [`${path}.old`, path].map(readText).join('');
  return text.split('\n').filter(Boolean).slice(-lines);
}

export interface Health {
  readonly state: 'starting' | 'ready' | 'failed';
  /** Of the server's own process; an HTTP server has none here. */
  readonly pid: number | null;
  readonly since: string;
  readonly error: string | null;
  /** The Countersign process that runs it. */
  readonly gateway: number;
}

const healthPath = (dataDir: string, server: string): string =>
  join(folderOf(dataDir), `${server}.${process.pid}.json`);

export function writeHealth(
  dataDir: string,
  server: string,
  health: Omit<Health, 'gateway'> | undefined,
): void {
  if (!health) {
    rmSync(healthPath(dataDir, server), { force: true });
    return;
  }
  makeFolder(folderOf(dataDir), 0o700);
  const text = JSON.stringify({ ...health, gateway: process.pid });
  writeFileSync(healthPath(dataDir, server), text, { mode: 0o600 });
}

/** How a server does in each process that runs it; what a dead process left behind is passed over. */
export function readHealth(dataDir: string, server: string): Health[] {
  let files: string[];
  try {
    files = readdirSync(folderOf(dataDir));
  } catch {
    return [];
  }
  return files
    .filter((file) => file.startsWith(`${server}.`) && /\.\d+\.json$/.test(file))
    .flatMap((file) => {
      const text = readText(join(folderOf(dataDir), file));
      return parseHealth(text);
    })
    .filter(({ gateway }) => isAlive(gateway));
}

/** Another process may be writing it. */
function parseHealth(text: string): Health[] {
  try {
    return [JSON.parse(text) as Health];
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
