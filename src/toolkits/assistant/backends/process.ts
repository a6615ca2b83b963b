import { type ChildProcess, spawn } from 'node:child_process';
import { ToolError } from '../../../contract/errors.ts';

export interface ProcessOptions {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Written to standard input, which is then closed. */
  readonly input: string | undefined;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  /** Called with the number of bytes read so far. */
  onOutput?(bytes: number): void;
}

export interface ProcessResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly killedBy: string | null;
  readonly truncated: boolean;
}

const STDERR_BYTES = 16_384;
const GRACE_MS = 2_000;

/**
 * Runs a program without a shell, in a process group of its own, so that what it started ends with it. Rejects when it
 * cannot be started or the signal fires.
 */
export function runProcess(options: ProcessOptions): Promise<ProcessResult> {
  const [program, ...args] = options.argv;
  if (program === undefined) return Promise.reject(new Error('The command is empty.'));
  options.signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      shell: false,
      windowsHide: true,
    });
    const stdout = new CappedText(options.maxOutputBytes);
    const stderr = new CappedText(STDERR_BYTES);
    const stop = () => killGroup(child);
    options.signal.addEventListener('abort', stop, { once: true });

    child.stdout.on('data', (chunk: Buffer) => {
      stdout.add(chunk);
      options.onOutput?.(stdout.seen);
    });
    child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk));
    // A program that does not read its input closes the pipe; that is no failure.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');

    child.once('error', (error) => {
      options.signal.removeEventListener('abort', stop);
      reject(error);
    });
    child.once('close', (exitCode, killedBy) => {
      options.signal.removeEventListener('abort', stop);
      if (options.signal.aborted) reject(options.signal.reason);
      else
        resolve({
          stdout: stdout.text,
          stderr: stderr.text,
          exitCode,
          killedBy,
          truncated: stdout.truncated,
        });
    });
  });
}

function killGroup(child: ChildProcess): void {
  sendToGroup(child, 'SIGTERM');
  // The group may outlive its leader, so the second signal does not ask whether the leader is gone.
  setTimeout(() => sendToGroup(child, 'SIGKILL'), GRACE_MS).unref();
}

function sendToGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // Already gone.
  }
}

/** Keeps the beginning; what comes after the limit is read, so that the program does not block, and dropped. */
class CappedText {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  seen = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    this.seen += chunk.length;
    const room = this.#limit - this.#kept;
    if (room <= 0) return;
    const part = chunk.subarray(0, room);
    this.#chunks.push(part);
    this.#kept += part.length;
  }

  get truncated(): boolean {
    return this.seen > this.#kept;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

export interface Placeholders {
  readonly message: string;
  readonly session: string;
  readonly transcript: string;
  readonly files: string;
}

const PLACEHOLDER = /\{(message|session|transcript|files)\}/g;

export const mentions = (template: readonly string[], name: keyof Placeholders): boolean =>
  template.some((element) => element.includes(`{${name}}`));

/**
 * Fills the template. Each element stays one argument regardless of its content, and what is filled in is never looked
 * at for placeholders again. A message that would be read as an option is refused unless `--` stands before it.
 */
export function fillArgv(template: readonly string[], values: Placeholders): string[] {
  const optionsEnd = template.indexOf('--');
  return template.map((element, index) => {
    const filled = element.replace(PLACEHOLDER, (_, name: keyof Placeholders) => values[name]);
    const isValue = optionsEnd >= 0 && index > optionsEnd;
    if (element.startsWith('{message}') && filled.startsWith('-') && !isValue) {
      throw new ToolError(
        'invalid_input',
        'The message begins with "-", and the configured command would treat it as an option. Put "--" before {message} in [assistant] command, or omit {message} to pass it on standard input.',
      );
    }
    return filled;
  });
}
