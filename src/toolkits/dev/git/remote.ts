import { ToolError } from '../../../contract/errors.ts';
import { timeLimit } from '../../../lib/time-limit.ts';
import type { Clone } from './clone.ts';
import { GitError, NETWORK } from './git.ts';

const NETWORK_TIMEOUT_MS = 120_000;

/** One remote of a clone: new branches start from it and are pushed to it. Nothing is ever forced. */
export class Remote {
  readonly #clone: Clone;
  readonly name: string;

  constructor(clone: Clone, name: string) {
    this.#clone = clone;
    this.name = name;
  }

  /** The commit a branch has over there, or undefined when there is no such branch. */
  async branch(name: string, signal?: AbortSignal): Promise<string | undefined> {
    const ref = `refs/heads/${name}`;
    const text = await this.#reach(['ls-remote', this.name, ref], signal);
    const line = text.split('\n').find((entry) => entry.endsWith(`\t${ref}`));
    return line?.split('\t')[0];
  }

  async branches(signal?: AbortSignal): Promise<string[]> {
    const text = await this.#reach(['ls-remote', '--heads', this.name], signal);
    return text.split('\n').flatMap((line) => /\trefs\/heads\/(.+)$/.exec(line)?.[1] ?? []);
  }

  /** Brings the branch's objects into the clone without moving any of its refs. */
  async fetch(name: string, signal?: AbortSignal): Promise<void> {
    const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--refmap='];
    await this.#reach(['fetch', ...quiet, this.name, `refs/heads/${name}`], signal);
  }

  /** Creates the branch over there. A branch that already stands on this commit is fine; any other is a conflict. */
  async create(name: string, commit: string, signal: AbortSignal): Promise<void> {
    const ref = `refs/heads/${name}`;
    const there = await this.branch(name, signal);
    if (there === commit) return;
    if (there !== undefined) throw this.#taken(name, there);
    try {
      await this.#reach(
        [
          'push',
          '--quiet',
          '--no-verify',
          '--no-recurse-submodules',
          `--force-with-lease=${ref}:`,
          this.name,
          `${commit}:${ref}`,
        ],
        signal,
      );
    } catch (cause) {
      const now = await this.branch(name).catch(() => 'unreachable');
      if (now === commit) return;
      if (now === 'unreachable') {
        throw new ToolError(
          'unavailable',
          `The push to ${this.name} was interrupted; it is unknown whether ${name} arrived.`,
          {
            cause,
            effect: 'unknown',
          },
        );
      }
      if (now !== undefined) throw this.#taken(name, now, cause);
      throw new ToolError('unavailable', `${this.name} rejected the branch ${name}; nothing was pushed.`, {
        cause,
      });
    }
  }

  /** Moves a branch forward over there, only from the commit it is expected on. */
  async advance(name: string, from: string, to: string, signal: AbortSignal): Promise<void> {
    const ref = `refs/heads/${name}`;
    const there = await this.branch(name, signal);
    if (there === to) return;
    const options = [
      '--quiet',
      '--no-verify',
      '--no-recurse-submodules',
      `--force-with-lease=${ref}:${from}`,
    ];
    try {
      await this.#reach(['push', ...options, this.name, `${to}:${ref}`], signal);
    } catch (cause) {
      const now = await this.branch(name).catch(() => 'unreachable');
      if (now === to) return;
      const lost = now === 'unreachable';
      const what = lost ? 'whether it arrived is not known' : 'nothing was pushed';
      throw new ToolError('unavailable', `The push of ${name} to ${this.name} failed; ${what}.`, {
        cause,
        effect: lost ? 'unknown' : 'none',
      });
    }
  }

  #taken(name: string, commit: string, cause?: unknown): ToolError {
    return new ToolError(
      'conflict',
      `${this.name} already has a branch ${name} at ${commit.slice(0, 12)} with different content. Choose another head_branch.`,
      { detail: { reason: 'branch_exists', head_branch: name, commit }, cause },
    );
  }

  async #reach(args: readonly string[], signal?: AbortSignal): Promise<string> {
    const limit = timeLimit(NETWORK_TIMEOUT_MS, signal);
    try {
      return await this.#clone.text(args, {
        env: NETWORK,
        signal: limit.signal,
      });
    } catch (cause) {
      if (signal?.aborted || !(cause instanceof GitError || limit.expired)) throw cause;
      throw new ToolError(
        'unavailable',
        `The git remote ${this.name} could not be reached or refused access.`,
        { cause },
      );
    } finally {
      limit.clear();
    }
  }
}
