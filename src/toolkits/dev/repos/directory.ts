import { isAbsolute } from 'node:path';
import type { Kysely } from 'kysely';
import { ToolError } from '../../../contract/errors.ts';
import type { DevSettings, RepoSettings } from '../config.ts';
import type { GithubClient } from '../forge/github/client.ts';
import { GithubForge } from '../forge/github/forge.ts';
import { LocalForge } from '../forge/local/forge.ts';
import { LocalStore } from '../forge/local/store.ts';
import type { Forge } from '../forge/port.ts';
import type { Scratch } from '../git/build-commit.ts';
import type { Clone } from '../git/clone.ts';
import { Remote } from '../git/remote.ts';
import type { Run } from '../runs.ts';
import type { DevTables } from '../tables.ts';
import { type Candidate, Candidates, goesBy, repoId } from './candidates.ts';

export interface Repo {
  /** The name runs and replies use. */
  readonly name: string;
  readonly forge: Forge;
  /** Set when issues and pull requests live in our own store. */
  readonly local: LocalForge | undefined;
  readonly clone: Clone | undefined;
  /** False for a clone that is allowed only because a person works in it. */
  readonly registered: boolean;
  readonly settings: RepoSettings | undefined;
}

/** Where a repository lives, for the person who has to put right what is missing. */
export interface Place {
  readonly name: string;
  readonly forge: 'local' | 'github';
  readonly github: string | undefined;
  readonly path: string | undefined;
  /** Why it cannot be used as it is configured. */
  readonly problem: string | undefined;
}

export interface DirectoryParts {
  readonly settings: DevSettings;
  readonly forge: 'local' | 'github';
  /** Whether there are credentials for GitHub, whichever forge is the default. */
  readonly hasGithub: boolean;
  /** Undefined: registered repositories and, locally, the current clone. */
  readonly allowlist: readonly string[] | undefined;
  readonly cwd: string;
  readonly db: Kysely<DevTables>;
  readonly scratch: Scratch;
  readonly github: GithubClient;
  now(): Date;
}

/** Which repositories may be used, and how each is reached. The answer is computed again with every call. */
export class RepoDirectory {
  readonly #parts: DirectoryParts;
  readonly #candidates: Candidates;
  readonly #open = new Map<string, Promise<Repo>>();

  constructor(parts: DirectoryParts) {
    this.#parts = parts;
    this.#candidates = new Candidates(parts.settings, parts.forge, parts.cwd);
  }

  async resolve(name: string): Promise<Repo> {
    const candidate = await this.#candidates.named(name.trim());
    if (candidate && this.#allowed(candidate)) return this.#connect(candidate);
    throw await this.#refusal(name);
  }

  /** The repository of a run, also in a process that works elsewhere: a person may approve from any folder. */
  async ofRun(run: Run): Promise<Repo> {
    if (run.clone === null) return this.resolve(run.repo);
    const candidate = await this.#candidates.at(run.clone);
    if (candidate && this.#allowed(candidate)) return this.#connect(candidate);
    throw await this.#refusal(run.repo);
  }

  /** For people, who may also name a folder, or a clone that agents worked on elsewhere. */
  async forPerson(name: string): Promise<Repo> {
    const wanted = name.trim();
    const candidate = isAbsolute(wanted)
      ? await this.#candidates.at(wanted)
      : ((await this.#candidates.named(wanted)) ??
        (await this.#knownClones()).find((each) => goesBy(each, wanted)));
    if (candidate && this.#allowed(candidate)) return this.#connect(candidate);
    throw await this.#unknownToPerson(wanted);
  }

  /** Names an agent could pass here. */
  async names(): Promise<readonly string[]> {
    const here = await this.#candidates.current();
    const known = [
      ...Object.keys(this.#parts.settings.repos),
      ...(here && !here.registered ? [here.name] : []),
    ];
    const listed = this.#parts.forge === 'github' ? (this.#parts.allowlist ?? []) : [];
    const usable: string[] = [];
    for (const name of new Set([...known, ...listed])) {
      const candidate = await this.#candidates.named(name);
      if (candidate && this.#allowed(candidate)) usable.push(name);
    }
    return usable;
  }

  async namesForPeople(): Promise<readonly string[]> {
    const clones = (await this.#knownClones()).filter((candidate) => this.#allowed(candidate));
    return [...new Set([...(await this.names()), ...clones.map(({ name }) => name)])];
  }

  async placesForPeople(): Promise<readonly Place[]> {
    const clones = await this.#knownClones();
    const found = await Promise.all(
      (await this.namesForPeople()).map(
        async (name) => (await this.#candidates.named(name)) ?? clones.find((each) => goesBy(each, name)),
      ),
    );
    return Promise.all(found.filter((candidate) => candidate !== undefined).map(placeOf));
  }

  async #knownClones(): Promise<Candidate[]> {
    const rows = await this.#parts.db
      .selectFrom('dev_repos')
      .select('path')
      .where('name', 'is', null)
      .execute();
    const found = await Promise.all(rows.map(({ path }) => this.#candidates.at(path)));
    return found.filter((candidate) => candidate !== undefined);
  }

  #allowed(candidate: Candidate): boolean {
    const { allowlist } = this.#parts;
    if (!allowlist) return candidate.registered !== undefined || candidate.forge === 'local';
    return allowlist.some((entry) => goesBy(candidate, entry));
  }

  async #connect(candidate: Candidate): Promise<Repo> {
    // A registered name leads to one clone; without one, only the clone itself distinguishes two of a name.
    const place =
      candidate.registered === undefined ? (await candidate.clone())?.gitDir : candidate.registered;
    const key = `${candidate.forge}:${candidate.name}:${place}`;
    let repo = this.#open.get(key);
    if (!repo) {
      repo = this.#build(candidate);
      this.#open.set(key, repo);
      repo.catch(() => this.#open.delete(key));
    }
    return repo;
  }

  async #build(candidate: Candidate): Promise<Repo> {
    const { name, settings } = candidate;
    const clone = await candidate.clone();
    const common = { name, clone, settings, registered: candidate.registered !== undefined };
    if (candidate.forge === 'github') {
      if (!candidate.github) throw badSettings(name, 'uses GitHub but has no github = "owner/name"');
      const { github: client, scratch, settings: all } = this.#parts;
      const forge = new GithubForge(candidate.github, { client, draft: all.draft, scratch });
      return { ...common, forge, local: undefined };
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
    return { ...common, forge: local, local };
  }

  async #unknownToPerson(name: string): Promise<ToolError> {
    const names = await this.namesForPeople();
    if (names.length === 0) return this.#refusal(name);
    const what =
      name === '.'
        ? 'This directory is not in a clone you can use.'
        : `Repository ${JSON.stringify(name)} not found.`;
    return new ToolError('not_found', `${what} Choose one with --repo: ${names.join(', ')}.`, {
      detail: { reason: 'repo_not_allowed', repo: name.slice(0, 200) },
    });
  }

  async #refusal(name: string): Promise<ToolError> {
    const names = await this.names();
    const { allowlist } = this.#parts;
    // Without a list the clone around this folder may be used, so there is none.
    const none = allowlist
      ? 'No repository is allowed here.'
      : 'This directory is not in a git repository, and none is registered. Run the command in a clone.';
    const known = names.length > 0 ? `Allowed here: ${names.join(', ')}.` : none;
    const how = allowlist
      ? 'A person can add it to REPO_ALLOWLIST or dev.repo_allowlist.'
      : 'A person can register it under [dev.repos.NAME], or list it in dev.repo_allowlist.';
    const problem = await this.#candidates.hereProblem();
    const { forge, hasGithub } = this.#parts;
    // A name on GitHub that is asked for on this machine is the likeliest mistake of a ToolHub set-up.
    const meantGithub = forge === 'local' && hasGithub && /^[^/\s]+\/[^/\s]+$/.test(name.trim());
    const switching = meantGithub
      ? ` The default forge is local, so GitHub was not asked; a person can set dev.forge = "github", or forge = "github" under [dev.repos.NAME].`
      : '';
    const asked = forge === 'local' ? 'on this machine (forge local)' : 'on GitHub';
    return new ToolError(
      'not_allowed',
      `The repository ${JSON.stringify(name.slice(0, 200))} may not be used ${asked}.${switching} ${problem ?? `${known} ${how}`}`,
      {
        hint: meantGithub ? 'A person must choose the forge in the configuration.' : undefined,
        detail: { reason: 'repo_not_allowed', repo: name.slice(0, 200), forge },
      },
    );
  }
}

async function placeOf({ name, forge, github, settings, clone }: Candidate): Promise<Place> {
  const common = { name, forge, github };
  try {
    const opened = await clone();
    const lacking = forge === 'local' && !opened ? 'it has no path to a clone' : undefined;
    return { ...common, path: opened?.folder, problem: lacking };
  } catch (error) {
    return {
      ...common,
      path: settings?.path,
      problem: error instanceof Error ? error.message : String(error),
    };
  }
}

const badSettings = (name: string, what: string): ToolError =>
  new ToolError('not_allowed', `[dev.repos] ${name} ${what}. A person must complete the configuration.`, {
    detail: { reason: 'repo_not_configured', repo: name },
  });
