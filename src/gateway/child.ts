import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { endGroup, watchGroup } from './process-group.ts';
import { MAX_MESSAGE_BYTES, repairMessage } from './wire.ts';

/** How long a server may take to end after its stdin was closed. */
const GRACE_MS = 2_000;

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Everything the server writes outside the protocol. */
  readonly onLog: (text: string) => void;
}

/**
 * A server as a child process in a group of its own. Unlike the SDK's transport it ends what the server started too,
 * keeps a notification before the response that follows it, and answers for a response that the SDK would drop.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** By this property and `pid` the SDK knows stdio, where silence means a legacy server; on HTTP it means an outage. */
  readonly stderr = null;
  readonly #options: ChildOptions;
  #child: ChildProcessWithoutNullStreams | undefined;
  #watcher: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #rest: Buffer[] = [];
  #size = 0;
  #closed = false;

  constructor(options: ChildOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): Promise<void> {
    const { command, args, cwd, env, onLog } = this.#options;
    const child = spawn(command, [...args], {
      cwd,
      env: { ...env },
      stdio: 'pipe',
      detached: true,
      windowsHide: true,
    });
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()));
    child.stdin.on('error', () => {});
    child.stdout.on('data', this.#onData);
    child.stderr.setEncoding('utf8').on('data', onLog);
    child.once('exit', (code, signal) => {
      onLog(`[ended with ${signal ?? `exit code ${code}`}]\n`);
      void this.close();
    });
    return new Promise((resolve, reject) => {
      child.once('spawn', () => {
        if (child.pid !== undefined) this.#watcher = watchGroup(child.pid);
        resolve();
      });
      child.once('error', (error) => {
        this.#closed = true;
        reject(error);
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (this.#closed || !stdin?.writable) throw new Error('The server is not running.');
    if (stdin.write(`${JSON.stringify(message)}\n`)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stdin.off('drain', done).off('close', done);
        resolve();
      };
      stdin.on('drain', done).on('close', done);
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (this.#closed || child?.pid === undefined) return;
    this.#closed = true;
    this.onclose?.();
    child.stdin.end();
    const grace = new Promise<void>((resolve) => setTimeout(resolve, GRACE_MS).unref());
    await Promise.race([this.#exited, grace]);
    // Also when the server has ended: what it started may still run.
    await endGroup(child.pid);
    child.stdout.destroy();
    child.stderr.destroy();
    this.#watcher?.kill('SIGKILL');
  }

  readonly #onData = (chunk: Buffer): void => {
    let rest = chunk;
    for (let end = rest.indexOf(0x0a); end !== -1 && !this.#closed; end = rest.indexOf(0x0a)) {
      this.#rest.push(rest.subarray(0, end));
      const line = Buffer.concat(this.#rest).toString('utf8');
      this.#rest = [];
      this.#size = 0;
      this.#onLine(line);
      rest = rest.subarray(end + 1);
    }
    if (rest.length === 0 || this.#closed) return;
    this.#rest.push(rest);
    this.#size += rest.length;
    if (this.#size > MAX_MESSAGE_BYTES) {
      this.#options.onLog(`[stopped: a message is larger than ${MAX_MESSAGE_BYTES / 1024 / 1024} MB]\n`);
      this.#rest = [];
      void this.close();
    }
  };

  #onLine(line: string): void {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.#options.onLog(`${line}\n`);
      return;
    }
    const message = repairMessage(value);
    if (!message) return;
    const deliver = (): void => {
      try {
        this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      }
    };
    // The SDK handles notifications in a microtask, so that a response of the same chunk would overtake them.
    if ('method' in message) deliver();
    else queueMicrotask(deliver);
  }
}
