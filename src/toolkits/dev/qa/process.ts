import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { CappedText } from './capped-text.ts';

export interface ProcessOptions {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly limitBytes: number;
  readonly artifactBytes: number;
  readonly signal: AbortSignal;
  /** Called now and then with the last line of output. */
  onLine(line: string): void;
}

export interface Ended {
  readonly how: 'exit' | 'timeout' | 'not_started';
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

  try {
    const exit = await ended(child);
    if (signal.aborted) throw signal.reason;
    const durationMs = Math.round(performance.now() - started);
    if (exit instanceof Error) {
      texts.stderr.add(Buffer.from(`${program} could not be started: ${exit.message}\n`));
      return { how: 'not_started', exitCode: -1, durationMs, ...texts };
    }
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
