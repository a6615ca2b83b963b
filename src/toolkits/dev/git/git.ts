import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { ToolError } from '../../../contract/errors.ts';
import { put } from '../../../lib/lookup.ts';

export interface GitOptions {
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Exit codes that are an answer, not a failure. */
  readonly answers?: readonly number[];
  /** Stop when the answer grows beyond this; a hostile repository must not fill the memory. */
  readonly maxBytes?: number;
}

export interface GitAnswer {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Git refused; `stderr` is for the caller's judgement and the log, it may quote file names of the repository. */
export class GitError extends Error {
  readonly code: number;
  readonly stderr: string;

  constructor(args: readonly string[], code: number, stderr: string) {
    super(`git ${subcommand(args)} exited with ${code}: ${stderr.trim().slice(0, 500)}`);
    this.name = 'GitError';
    this.code = code;
    this.stderr = stderr;
  }
}

/**
 * Hooks, file monitors and automatic maintenance would run unrequested programs; the two protections refuse
 * names that another file system would read as `.git`.
 */
const GUARDS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.quotePath=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'i18n.commitEncoding=UTF-8',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

/** Variables of the person's own set-up that git needs to reach a remote; every other GIT_ variable would redirect it. */
const KEPT = new Set([
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_SSH_VARIANT',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'GIT_ASKPASS',
  'GIT_EXEC_PATH',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
]);
const MAX_BYTES = 256 * 1024 * 1024;

/** Without this git reaches nothing: an object that a clone lacks would be fetched by any program the clone names. */
export const NETWORK = { GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh' };

/** No configuration but that of the repository itself, and no attributes of the machine. */
export const APART = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_ATTR_NOSYSTEM: '1' };

/** Makes an empty repository of our own. */
export async function initRepository(
  folder: string,
  { bare, isSha256 }: { readonly bare: boolean; readonly isSha256: boolean },
  signal: AbortSignal,
): Promise<void> {
  const format = `--object-format=${isSha256 ? 'sha256' : 'sha1'}`;
  const kind = bare ? ['--bare'] : [];
  await runGit(['init', '--quiet', ...kind, '--template=', format, folder], { env: APART, signal });
}

/** As git reads a path that may hold anything. */
export const quotedPath = (path: string): string =>
  `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

/** Runs git and answers its output. Throws GitError on any other exit code, ToolError when git cannot run. */
export async function runGit(args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
  options.signal?.throwIfAborted();
  const child = spawn('git', [...GUARDS, ...args], {
    cwd: options.cwd,
    env: { ...cleanEnvironment(), ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    signal: options.signal,
  });
  const limit = options.maxBytes ?? MAX_BYTES;
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  let size = 0;
  let tooLarge = false;
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) out.push(chunk);
    else if (!tooLarge) {
      tooLarge = true;
      child.kill('SIGKILL');
    }
  });
  child.stderr.on('data', (chunk: Buffer) => {
    if (err.length < 64) err.push(chunk);
  });
  // Git may close its input early (it refused); the exit code says why.
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', (error) => reject(startError(error, options.cwd)));
    child.on('close', (exit) => resolve(exit ?? -1));
  });
  if (tooLarge)
    throw new ToolError('invalid_input', `git ${subcommand(args)} returned more than ${limit} bytes.`);
  const stderr = Buffer.concat(err).toString('utf8');
  if (code !== 0 && !options.answers?.includes(code)) throw gitError(args, code, stderr);
  return { code, stdout: Buffer.concat(out), stderr };
}

function gitError(args: readonly string[], code: number, stderr: string): Error {
  const error = new GitError(args, code, stderr);
  if (!/^fatal: transport '.*' not allowed$/m.test(stderr)) return error;
  return new ToolError(
    'unavailable',
    'The clone is partial: it lacks objects that only its remote has, and it may not fetch them. A person can set remote = "origin" under [dev.repos.NAME].',
    { retryable: false, detail: { reason: 'clone_incomplete' }, cause: error },
  );
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!name.startsWith('GIT_') || KEPT.has(name)) put(env, name, value);
  }
  env.LC_ALL = 'C';
  env.GIT_TERMINAL_PROMPT = '0';
  env.GIT_OPTIONAL_LOCKS = '0';
  env.GIT_NO_REPLACE_OBJECTS = '1';
  env.GIT_LITERAL_PATHSPECS = '1';
  env.GIT_ALLOW_PROTOCOL = 'none';
  return env;
}

function startError(error: NodeJS.ErrnoException, cwd: string | undefined): Error {
  if (error.code === 'ENOENT' && cwd !== undefined && !existsSync(cwd)) {
    return new ToolError('not_found', `Directory ${cwd} no longer exists.`, {
      detail: { path: cwd },
      cause: error,
    });
  }
  if (error.code === 'ENOENT') {
    return new ToolError('unavailable', 'git was not found. Install git and put it on the PATH.', {
      retryable: false,
      cause: error,
    });
  }
  return error;
}

const subcommand = (args: readonly string[]): string => args.find((arg) => /^[a-z]/.test(arg)) ?? 'command';
