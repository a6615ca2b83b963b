import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { DiskWatch } from './disk.ts';

export interface ProcessOptions {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly limitBytes: number;
  readonly artifactBytes: number;
  /** What the command may write to this folder. */
  readonly disk: { readonly folder: string; readonly limitBytes: number };
  readonly signal: AbortSignal;
  /** Called now and then with the last line of output. */
  onLine(line: string): void;
}

export interface Ended {
  readonly how: 'exit' | 'timeout' | 'quota' | 'not_started';
  /** Why the command was stopped before its end. */
  readonly problem?: string;
  readonly exitCode: number;
  readonly durationMs: number;
  readonly stdout: CappedText;
  readonly stderr: CappedText;
  readonly fullStdout: CappedText;
  readonly fullStderr: CappedText;
}

const GRACE_MS = 2_000;
const LINE_EVERY_MS = 250;

/** Runs a command without a shell in a process group of its own, and leaves nothing of that group behind. */
export async function runProcess(options: ProcessOptions): Promise<Ended> {
  const { argv, cwd, env, signal } = options;
  const [program = '', ...args] = argv;
  signal.throwIfAborted();
  const started = performance.now();
  const texts = {
    stdout: new CappedText(options.limitBytes),
    stderr: new CappedText(options.limitBytes),
    fullStdout: new CappedText(options.artifactBytes),
    fullStderr: new CappedText(options.artifactBytes),
  };
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const say = sayLines(options.onLine);
  child.stdout.on('data', (chunk: Buffer) => {
    texts.stdout.add(chunk);
    texts.fullStdout.add(chunk);
    say(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    texts.stderr.add(chunk);
    texts.fullStderr.add(chunk);
    say(chunk);
  });

  let timedOut = false;
  let hardKill: NodeJS.Timeout | undefined;
  const stop = () => {
    killGroup(child, 'SIGTERM');
    hardKill = setTimeout(() => killGroup(child, 'SIGKILL'), GRACE_MS);
  };
  const timer = setTimeout(() => {
    timedOut = true;
    stop();
  }, options.timeoutMs);
  signal.addEventListener('abort', stop, { once: true });
  // At once: what is given time to end goes on writing.
  const kill = () => killGroup(child, 'SIGKILL');
  const watch = new DiskWatch(options.disk.folder, options.disk.limitBytes, kill);

  try {
    const exit = await ended(child);
    const problem = await watch.end(exit !== 0);
    if (signal.aborted) throw signal.reason;
    const durationMs = Math.round(performance.now() - started);
    if (exit instanceof Error) {
      texts.stderr.add(Buffer.from(`${program} could not be started: ${exit.message}\n`));
      return { how: 'not_started', exitCode: -1, durationMs, ...texts };
    }
    if (problem !== undefined) return { how: 'quota', problem, exitCode: -1, durationMs, ...texts };
    return { how: timedOut ? 'timeout' : 'exit', exitCode: timedOut ? -1 : exit, durationMs, ...texts };
  } finally {
    clearTimeout(timer);
    clearTimeout(hardKill);
    signal.removeEventListener('abort', stop);
  }
}

function ended(child: ChildProcess): Promise<number | Error> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error));
    child.on('exit', (code, signal) => {
      // Children left in the background would keep the pipes open and live on.
      killGroup(child, 'SIGKILL');
      const exitCode = code ?? (signal ? 128 + constants.signals[signal] : -1);
      const giveUp = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve(exitCode);
      }, GRACE_MS);
      child.on('close', () => {
        clearTimeout(giveUp);
        resolve(exitCode);
      });
    });
  });
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32')
      spawn('taskkill', ['/pid', String(child.pid), '/t', '/f'], { stdio: 'ignore' });
    else process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}

function sayLines(onLine: (line: string) => void): (chunk: Buffer) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (chunk) => {
    const now = performance.now();
    if (now - last < LINE_EVERY_MS) return;
    const lines = chunk
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
    const line = lines.at(-1);
    if (line === undefined) return;
    last = now;
    onLine(line.trim().slice(0, 200));
  };
}

/**
 * Output of a command with a bound on memory: the beginning and the end are kept, because a failure is explained in one
 * of them. Characters are never cut in half.
 */
export class CappedText {
  readonly #limit: number;
  readonly #headLimit: number;
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #headSize = 0;
  #tailSize = 0;
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#headLimit = Math.floor(limit / 2);
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = this.#headLimit - this.#headSize;
    if (room > 0) {
      const part = chunk.subarray(0, room);
      this.#head.push(part);
      this.#headSize += part.length;
    }
    if (chunk.length <= room) return;
    const rest = room > 0 ? chunk.subarray(room) : chunk;
    this.#tail.push(rest);
    this.#tailSize += rest.length;
    const keep = this.#limit - this.#headLimit;
    for (let first = this.#tail[0]; first && this.#tailSize - first.length >= keep; first = this.#tail[0]) {
      this.#tail.shift();
      this.#tailSize -= first.length;
    }
  }

  get truncated(): boolean {
    return this.#total > this.#limit;
  }

  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (!this.truncated) return decode(Buffer.concat([head, tail]));
    const start = head.subarray(0, wholeEnd(head));
    const end = tail.subarray(wholeStart(tail, tail.length - (this.#limit - this.#headLimit)));
    const left = this.#total - start.length - end.length;
    return `${decode(start)}\n[${left} bytes omitted]\n${decode(end)}`;
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Where the last whole character ends. */
function wholeEnd(bytes: Buffer): number {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && lead >= 0 && isContinuation(bytes[lead])) lead -= 1;
  const first = bytes[lead] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return lead >= 0 && lead + length > bytes.length ? lead : bytes.length;
}

/** The first place at or after `from` where a character begins. */
function wholeStart(bytes: Buffer, from: number): number {
  let start = Math.max(0, from);
  for (let skipped = 0; skipped < 3 && isContinuation(bytes[start]); skipped += 1) start += 1;
  return start;
}

/** Stores and clients choke on NUL. */
const decode = (bytes: Buffer): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replaceAll('\0', '\ufffd');
