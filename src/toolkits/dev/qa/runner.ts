import { ToolError } from '../../../contract/errors.ts';
import type { QaSettings, RepoSettings } from '../config.ts';
import type { Scratch } from '../git/build-commit.ts';
import type { Clone } from '../git/clone.ts';
import { type Checkout, withCheckout } from './checkout.ts';
import { limitFiles } from './disk.ts';
import { type Ended, runProcess } from './process.ts';
import { bwrapWorks, confine, qaEnvironment } from './sandbox.ts';

export type QaKind = 'test' | 'lint';
export type QaStatus = 'pass' | 'fail' | 'timeout' | 'error';

export interface QaReport {
  readonly command: string;
  /** `setup` when the command itself was not reached. */
  readonly phase: 'setup' | 'command';
  readonly exit_code: number;
  readonly duration_ms: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdout_truncated: boolean;
  readonly stderr_truncated: boolean;
  readonly output_limit_bytes: number;
  /** What the command ran on: the commit and its tree. */
  readonly commit: string;
  readonly tree: string;
  readonly sandbox: 'bwrap' | 'none';
}

/** A report as it is stored. */
export interface StoredReport extends QaReport {
  readonly tool: string;
  readonly status: QaStatus;
  readonly stdout_artifact_id: string;
  readonly stderr_artifact_id: string;
}

export interface QaResult {
  readonly status: QaStatus;
  readonly report: QaReport;
  readonly stdout: string;
  readonly stderr: string;
  /** Why the command was stopped before its end. */
  readonly problem?: string | undefined;
}

export interface QaJob {
  readonly kind: QaKind;
  readonly clone: Clone;
  readonly commit: string;
  readonly commands: QaCommands;
  readonly signal: AbortSignal;
  onProgress(message: string): void;
  /** Throws when nothing may run now; asked when it is the command's turn. */
  admit(): Promise<void>;
}

export interface QaCommands {
  readonly command: readonly string[];
  readonly setup: readonly string[] | undefined;
  readonly timeoutSeconds: number;
  readonly env: readonly string[];
  readonly filters: boolean;
}

/** The artifacts keep more than the reply shows. */
const ARTIFACT_FACTOR = 16;

/** The commands of a repository: its own, else those for all. Undefined when none is configured. */
export function qaCommands(
  kind: QaKind,
  repo: RepoSettings | undefined,
  qa: QaSettings,
): QaCommands | undefined {
  const command = repo?.[kind] ?? qa[kind];
  if (!command) return undefined;
  return {
    command,
    setup: repo?.setup ?? qa.setup,
    timeoutSeconds: repo?.timeout_seconds ?? qa.timeout_seconds,
    env: [...qa.env, ...(repo?.env ?? [])],
    filters: repo?.filters ?? false,
  };
}

/** Runs the configured commands on one commit, some at a time. */
export class QaRunner {
  readonly #settings: QaSettings;
  readonly #scratch: Scratch;
  readonly #dataDir: string;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #turns: Semaphore;

  constructor(
    settings: QaSettings,
    place: { scratch: Scratch; dataDir: string; env: Readonly<Record<string, string | undefined>> },
  ) {
    this.#settings = settings;
    this.#scratch = place.scratch;
    this.#dataDir = place.dataDir;
    this.#env = place.env;
    this.#turns = new Semaphore(settings.max_concurrency);
  }

  run(job: QaJob): Promise<QaResult> {
    const onWait = () => job.onProgress('Waiting for another QA command to finish.');
    return this.#turns.take(() => this.#checkOut(job), job.signal, onWait);
  }

  async #checkOut(job: QaJob): Promise<QaResult> {
    await job.admit();
    const sandbox = await this.sandbox();
    const tree = await job.clone.treeOf(job.commit, job.signal);
    job.onProgress(`Checking out ${job.commit.slice(0, 12)}.`);
    const how = { filters: job.commands.filters, signal: job.signal };
    return withCheckout(job.clone, this.#scratch, job.commit, how, async (checkout) => {
      const { setup, command } = job.commands;
      if (setup) {
        const ended = await this.#execute(setup, job, checkout, sandbox, this.#settings.setup_network);
        if (ended.how !== 'exit' || ended.exitCode !== 0) {
          return this.#result('error', 'setup', setup, ended, job, tree, sandbox);
        }
      }
      const ended = await this.#execute(command, job, checkout, sandbox, this.#settings.network);
      return this.#result(statusOf(ended), 'command', command, ended, job, tree, sandbox);
    });
  }

  async #execute(
    command: readonly string[],
    job: QaJob,
    checkout: Checkout,
    sandbox: 'bwrap' | 'none',
    network: boolean,
  ): Promise<Ended> {
    job.onProgress(`Running ${showCommand(command)}`);
    const env = qaEnvironment(this.#env, job.commands.env, checkout.tmp);
    const { readable } = this.#settings;
    const bounds = {
      ...checkout,
      hidden: [this.#dataDir, job.clone.gitDir],
      env,
      readable,
      network,
    };
    const { disk_limit_bytes: limitBytes } = this.#settings;
    const ended = await runProcess({
      argv: sandbox === 'bwrap' ? limitFiles(await confine(command, bounds), limitBytes) : command,
      cwd: checkout.workDir,
      env,
      timeoutMs: job.commands.timeoutSeconds * 1000,
      limitBytes: this.#settings.output_limit_bytes,
      artifactBytes: this.#settings.output_limit_bytes * ARTIFACT_FACTOR,
      disk: { folder: checkout.folder, limitBytes },
      signal: job.signal,
      onLine: (line) => job.onProgress(line),
    });
    return sandbox === 'bwrap' && neverStarted(ended)
      ? { ...ended, how: 'not_started', exitCode: -1 }
      : ended;
  }

  /** What confines the commands here; throws where the configuration wants a sandbox that cannot be had. */
  async sandbox(): Promise<'bwrap' | 'none'> {
    if (this.#settings.sandbox === 'off') return 'none';
    if (await bwrapWorks()) return 'bwrap';
    if (this.#settings.sandbox === 'auto') return 'none';
    throw new ToolError(
      'unavailable',
      'dev.qa.sandbox is "bwrap", but bubblewrap is not installed or cannot run here.',
      {
        retryable: false,
      },
    );
  }

  #result(
    status: QaStatus,
    phase: 'setup' | 'command',
    command: readonly string[],
    ended: Ended,
    job: QaJob,
    tree: string,
    sandbox: 'bwrap' | 'none',
  ): QaResult {
    return {
      status,
      problem: ended.problem,
      stdout: ended.fullStdout.text(),
      stderr: ended.fullStderr.text(),
      report: {
        command: showCommand(command),
        phase,
        exit_code: ended.exitCode,
        duration_ms: ended.durationMs,
        stdout: ended.stdout.text(),
        stderr: ended.stderr.text(),
        stdout_truncated: ended.stdout.truncated,
        stderr_truncated: ended.stderr.truncated,
        output_limit_bytes: this.#settings.output_limit_bytes,
        commit: job.commit,
        tree,
        sandbox,
      },
    };
  }
}

/** Bubblewrap ends with 1 and a line of its own when it cannot set up the sandbox or find the program. */
const neverStarted = ({ how, exitCode, stdout, stderr }: Ended): boolean =>
  how === 'exit' && exitCode === 1 && stdout.text() === '' && stderr.text().startsWith('bwrap: ');

function statusOf(ended: Ended): QaStatus {
  if (ended.how === 'timeout') return 'timeout';
  if (ended.how === 'not_started' || ended.how === 'quota') return 'error';
  return ended.exitCode === 0 ? 'pass' : 'fail';
}

/** Words as a person would type them; nothing ever parses this again. */
export const showCommand = (argv: readonly string[]): string =>
  argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');

/** A limited number in parallel; the others wait in line. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async take<T>(work: () => Promise<T>, signal: AbortSignal, onWait: () => void): Promise<T> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else {
      onWait();
      await this.#line(signal);
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  #line(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason);
      };
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(enter);
    });
  }
}
