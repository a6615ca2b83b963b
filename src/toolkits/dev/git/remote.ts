import { ToolFault } from '../../../contract/faults.ts';
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
        throw new ToolFault(
          'unavailable',
          `The push to ${this.name} was cut off; whether ${name} arrived is not known.`,
          {
            cause,
            effect: 'unknown',
          },
        );
      }
      if (now !== undefined) throw this.#taken(name, now, cause);
      throw new ToolFault(
        'unavailable',
        `${this.name} did not take the branch ${name}; nothing was pushed.`,
        { cause },
      );
    }
  }

  #taken(name: string, commit: string, cause?: unknown): ToolFault {
    return new ToolFault(
      'conflict',
      `${this.name} already has a branch ${name} at ${commit.slice(0, 12)} with other content. Choose another head_branch.`,
      { detail: { reason: 'branch_exists', head_branch: name, commit }, cause },
    );
  }

  async #reach(args: readonly string[], signal?: AbortSignal): Promise<string> {
    const limit = AbortSignal.timeout(NETWORK_TIMEOUT_MS);
    try {
      return await this.#clone.text(args, {
        env: NETWORK,
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
    } catch (cause) {
      if (signal?.aborted || !(cause instanceof GitError || limit.aborted)) throw cause;
      throw new ToolFault(
        'unavailable',
        `The git remote ${this.name} could not be reached or refused access.`,
        { cause },
      );
    }
  }
}
