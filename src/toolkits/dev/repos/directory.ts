import type { Kysely } from 'kysely';
import { ToolFault } from '../../../contract/faults.ts';
import type { DevSettings, RepoSettings } from '../config.ts';
import type { GithubClient } from '../forge/github/client.ts';
import { GithubForge } from '../forge/github/forge.ts';
import { LocalForge } from '../forge/local/forge.ts';
import { LocalStore } from '../forge/local/store.ts';
import type { Forge } from '../forge/port.ts';
import { type Clone, openClone } from '../git/clone.ts';
import { Remote } from '../git/remote.ts';
import type { Scratch } from '../git/scratch.ts';
import type { DevTables } from '../tables.ts';
import { repoId } from './identity.ts';
import { ownerAndName } from './origin.ts';

export interface Repo {
  /** The name runs and replies use. */
  readonly name: string;
  readonly forge: Forge;
  /** Set when issues and pull requests live in our own store. */
  readonly local: LocalForge | undefined;
  readonly clone: Clone | undefined;
  readonly settings: RepoSettings | undefined;
}

interface Candidate {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly forge: 'local' | 'github';
  readonly github: string | undefined;
  readonly registered: string | undefined;
  readonly settings: RepoSettings | undefined;
  clone(): Promise<Clone | undefined>;
}

export interface DirectoryParts {
  readonly settings: DevSettings;
  readonly forge: 'local' | 'github';
  /** Undefined: registered repositories and, locally, the current clone. */
  readonly allowlist: readonly string[] | undefined;
  readonly cwd: string;
  readonly db: Kysely<DevTables>;
  readonly scratch: Scratch;
  readonly github: GithubClient;
  now(): Date;
}

const OWNER_NAME = /^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/;
const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Which repositories may be used, and how each is reached. The answer is asked for anew with every call. */
export class RepoDirectory {
  readonly #parts: DirectoryParts;
  readonly #open = new Map<string, Promise<Repo>>();
  #here: Candidate | undefined;

  constructor(parts: DirectoryParts) {
    this.#parts = parts;
  }

  async resolve(name: string): Promise<Repo> {
    const candidate = await this.#find(name.trim());
    if (!candidate || !this.#allowed(candidate)) throw await this.#refusal(name);
    const key = `${candidate.forge}:${candidate.registered ?? ''}:${candidate.name}`;
    let repo = this.#open.get(key);
    if (!repo) {
      repo = this.#connect(candidate);
      this.#open.set(key, repo);
      repo.catch(() => this.#open.delete(key));
    }
    return repo;
  }

  /** Names a person or agent could pass, for messages and listings. */
  async names(): Promise<readonly string[]> {
    const { settings } = this.#parts;
    const here = await this.#current();
    const candidates = [...Object.keys(settings.repos), ...(here && !here.registered ? [here.name] : [])];
    const listed = this.#parts.forge === 'github' ? (this.#parts.allowlist ?? []) : [];
    const usable: string[] = [];
    for (const name of new Set([...candidates, ...listed])) {
      const candidate = await this.#find(name);
      if (candidate && this.#allowed(candidate)) usable.push(name);
    }
    return usable;
  }

  async #find(name: string): Promise<Candidate | undefined> {
    const registered = this.#registered(name);
    if (registered) return registered;
    const here = await this.#current();
    if (here && (name === '.' || [here.name, ...here.aliases].some((alias) => same(alias, name))))
      return here;
    if (this.#parts.forge !== 'github' || !OWNER_NAME.test(name)) return undefined;
    return {
      name,
      aliases: [],
      forge: 'github',
      github: name,
      registered: undefined,
      settings: undefined,
      clone: async () => undefined,
    };
  }

  #registered(name: string): Candidate | undefined {
    const { repos } = this.#parts.settings;
    const key = Object.hasOwn(repos, name)
      ? name
      : Object.keys(repos).find((each) => same(each, name) || same(repos[each]?.github ?? '', name));
    const settings = key === undefined ? undefined : repos[key];
    if (key === undefined || !settings) return undefined;
    const { path } = settings;
    return {
      name: key,
      aliases: settings.github ? [settings.github] : [],
      forge: settings.forge ?? this.#parts.forge,
      github: settings.github ?? (OWNER_NAME.test(key) ? key : undefined),
      registered: key,
      settings,
      clone: async () => (path === undefined ? undefined : openClone(path)),
    };
  }

  /** The clone of the current directory, under its registered name if it has one. */
  async #current(): Promise<Candidate | undefined> {
    // Every call asks, and git answers slowly; only a folder that is no clone yet is looked at again.
    this.#here ??= await this.#lookAround();
    return this.#here;
  }

  async #lookAround(): Promise<Candidate | undefined> {
    const clone = await openClone(this.#parts.cwd).catch(() => undefined);
    if (!clone) return undefined;
    for (const [key, { path }] of Object.entries(this.#parts.settings.repos)) {
      const other = path === undefined ? undefined : await openClone(path).catch(() => undefined);
      if (other?.gitDir === clone.gitDir) return this.#registered(key);
    }
    const origin = ownerAndName(await clone.remoteUrl('origin'));
    return {
      name: origin ?? clone.folderName,
      aliases: [clone.folderName],
      forge: origin === undefined ? 'local' : this.#parts.forge,
      github: origin,
      registered: undefined,
      settings: undefined,
      clone: async () => clone,
    };
  }

  #allowed({ name, aliases, forge, registered }: Candidate): boolean {
    const { allowlist } = this.#parts;
    if (!allowlist) return registered !== undefined || forge === 'local';
    return allowlist.some((entry) => [name, ...aliases].some((alias) => same(alias, entry)));
  }

  async #connect(candidate: Candidate): Promise<Repo> {
    const { name, settings } = candidate;
    const clone = await candidate.clone();
    if (candidate.forge === 'github') {
      if (!candidate.github) throw badSettings(name, 'uses GitHub but has no github = "owner/name"');
      const forge = new GithubForge(candidate.github, this.#parts.github, this.#parts.settings.draft);
      return { name, forge, local: undefined, clone, settings };
    }
    if (!clone) throw badSettings(name, 'has no path to a clone');
    const { db, scratch, now } = this.#parts;
    const id = await repoId(db, { registered: candidate.registered, path: clone.gitDir, now: now() });
    const { commit_name, commit_email, draft } = this.#parts.settings;
    const local = new LocalForge(
      {
        clone,
        scratch,
        store: new LocalStore(db, id),
        remote: settings?.remote ? new Remote(clone, settings.remote) : undefined,
        author: { name: commit_name, email: commit_email },
        draft,
      },
      name,
    );
    return { name, forge: local, local, clone, settings };
  }

  async #refusal(name: string): Promise<ToolFault> {
    const names = await this.names();
    const known = names.length > 0 ? `Allowed here: ${names.join(', ')}.` : 'No repository is allowed here.';
    const how = this.#parts.allowlist
      ? 'A person can add it to REPO_ALLOWLIST or dev.repo_allowlist.'
      : 'A person can register it under [dev.repos.NAME], or list it in dev.repo_allowlist.';
    return new ToolFault(
      'not_allowed',
      `The repository ${JSON.stringify(name.slice(0, 200))} may not be used. ${known} ${how}`,
      {
        detail: { reason: 'repo_not_allowed', repo: name.slice(0, 200) },
      },
    );
  }
}

const badSettings = (name: string, what: string): ToolFault =>
  new ToolFault('not_allowed', `[dev.repos] ${name} ${what}. A person must complete the configuration.`, {
    detail: { reason: 'repo_not_configured', repo: name },
  });
