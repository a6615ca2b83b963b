import type { Octokit } from 'octokit';
import type { GithubClient, Need } from './client.ts';
import { githubFault, statusOf } from './faults.ts';

/** One repository on GitHub: opens a client that may do what is needed and turns failures into faults. */
export class GithubRepo {
  readonly owner: string;
  readonly name: string;
  readonly #client: GithubClient;

  constructor(fullName: string, client: GithubClient) {
    const [owner = '', name = ''] = fullName.split('/');
    this.owner = owner;
    this.name = name;
    this.#client = client;
  }

  /** The parameters every request about this repository carries. */
  at(signal: AbortSignal) {
    return { owner: this.owner, repo: this.name, request: { signal } };
  }

  async read<T>(need: Need, what: string, send: (octokit: Octokit) => Promise<T>): Promise<T> {
    try {
      return await send(await this.#client.octokit(this, need));
    } catch (error) {
      throw githubFault(error, what, 'read');
    }
  }

  /** Like `read`, but an absent thing is an answer. */
  async find<T>(need: Need, what: string, send: (octokit: Octokit) => Promise<T>): Promise<T | undefined> {
    try {
      return await send(await this.#client.octokit(this, need));
    } catch (error) {
      // 409 is GitHub's answer for a repository without commits.
      if ([404, 409].includes(statusOf(error) ?? 0)) return undefined;
      throw githubFault(error, what, 'read');
    }
  }

  async write<T>(need: Need, what: string, send: (octokit: Octokit) => Promise<T>): Promise<T> {
    const octokit = await this.read(need, 'sign in', async (client) => client);
    try {
      return await send(octokit);
    } catch (error) {
      throw githubFault(error, what, 'write');
    }
  }
}
