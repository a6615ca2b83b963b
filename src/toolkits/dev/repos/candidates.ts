import type { Kysely } from 'kysely';
import { ToolError } from '../../../contract/errors.ts';
import { lookup } from '../../../lib/lookup.ts';
import type { DevSettings, RepoSettings } from '../config.ts';
import { type Clone, openClone } from '../git/clone.ts';
import type { DevTables } from '../tables.ts';

/** A repository that is known by some name; whether it may be used is another question. */
export interface Candidate {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly forge: 'local' | 'github';
  /** owner/name on GitHub, if it has one. */
  readonly github: string | undefined;
  /** Its key under `[dev.repos]`. */
  readonly registered: string | undefined;
  readonly settings: RepoSettings | undefined;
  clone(): Promise<Clone | undefined>;
}

const OWNER_NAME = /^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/;

/** GitHub does not tell names apart by letter case, so neither do we. */
const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export const goesBy = ({ name, aliases }: Candidate, wanted: string): boolean =>
  [name, ...aliases].some((each) => sameName(each, wanted));

/** Finds repositories by the names people and agents give them. */
export class Candidates {
  readonly #settings: DevSettings;
  readonly #forge: 'local' | 'github';
  readonly #cwd: string;
  readonly #described = new Map<string, Candidate>();
  #here: Candidate | undefined;

  constructor(settings: DevSettings, forge: 'local' | 'github', cwd: string) {
    this.#settings = settings;
    this.#forge = forge;
    this.#cwd = cwd;
  }

  /** A registered repository, the current clone, or a name on GitHub. */
  async named(name: string): Promise<Candidate | undefined> {
    const registered = this.registered(name);
    if (registered) return registered;
    const here = await this.current();
    if (here && (name === '.' || goesBy(here, name))) return here;
    if (this.#forge !== 'github' || !OWNER_NAME.test(name)) return undefined;
    return {
      ...UNREGISTERED,
      name,
      aliases: [],
      forge: 'github',
      github: name,
      clone: async () => undefined,
    };
  }

  registered(name: string): Candidate | undefined {
    const { repos } = this.#settings;
    const key = Object.hasOwn(repos, name)
      ? name
      : Object.keys(repos).find(
          (each) => sameName(each, name) || sameName(lookup(repos, each)?.github ?? '', name),
        );
    const settings = key === undefined ? undefined : lookup(repos, key);
    if (key === undefined || !settings) return undefined;
    const { path } = settings;
    return {
      name: key,
      aliases: settings.github ? [settings.github] : [],
      forge: settings.forge ?? this.#forge,
      github: settings.github ?? (OWNER_NAME.test(key) ? key : undefined),
      registered: key,
      settings,
      clone: async () => (path === undefined ? undefined : openClone(path, settings.remote !== undefined)),
    };
  }

  /** The clone of the current directory. */
  async current(): Promise<Candidate | undefined> {
    // Every call asks, and git answers slowly; only a folder that is no clone yet is looked at again.
    this.#here ??= await this.at(this.#cwd);
    return this.#here;
  }

  /** What keeps the current directory, a clone, from being used. */
  async hereProblem(): Promise<string | undefined> {
    try {
      await openClone(this.#cwd);
      return undefined;
    } catch (error) {
      return error instanceof ToolError && error.code === 'not_allowed' ? error.message : undefined;
    }
  }

  /** The clone a folder belongs to, under its registered name if it has one. */
  async at(folder: string): Promise<Candidate | undefined> {
    const known = this.#described.get(folder);
    if (known) return known;
    const clone = await openClone(folder).catch(() => undefined);
    const candidate = clone && (await this.#describe(clone));
    if (candidate) this.#described.set(folder, candidate);
    return candidate;
  }

  async #describe(clone: Clone): Promise<Candidate | undefined> {
    for (const [key, { path }] of Object.entries(this.#settings.repos)) {
      const other = path === undefined ? undefined : await openClone(path).catch(() => undefined);
      if (other?.gitDir === clone.gitDir) return this.registered(key);
    }
    const origin = ownerAndName(await clone.remoteUrl('origin'));
    return {
      ...UNREGISTERED,
      name: origin ?? clone.folderName,
      aliases: [clone.folderName],
      forge: origin === undefined ? 'local' : this.#forge,
      github: origin,
      clone: async () => clone,
    };
  }
}

const UNREGISTERED = { registered: undefined, settings: undefined } as const;

/**
 * The store's id of a clone. A registered clone is known by its name and may move; any other is known by where it
 * lies, and keeps its issues when it is registered later.
 */
export async function repoId(
  db: Kysely<DevTables>,
  repo: { readonly registered: string | undefined; readonly path: string; readonly now: Date },
): Promise<string> {
  const { registered, path } = repo;
  if (registered !== undefined) {
    const byName = await db
      .selectFrom('dev_repos')
      .selectAll()
      .where('name', '=', registered)
      .executeTakeFirst();
    if (byName) {
      if (byName.path !== path)
        await db.updateTable('dev_repos').set({ path }).where('id', '=', byName.id).execute();
      return byName.id;
    }
  }
  const byPath = await db
    .selectFrom('dev_repos')
    .selectAll()
    .where('path', '=', path)
    .orderBy('created_at')
    .executeTakeFirst();
  if (byPath && (registered === undefined || byPath.name === null)) {
    if (registered !== undefined) {
      await db.updateTable('dev_repos').set({ name: registered }).where('id', '=', byPath.id).execute();
    }
    return byPath.id;
  }
  const id = registered === undefined ? `path:${path}` : `name:${registered}`;
  await db
    .insertInto('dev_repos')
    .values({
      id,
      name: registered ?? null,
      path,
      last_number: 0,
      last_comment: 0,
      created_at: repo.now.toISOString(),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  return id;
}

/** `owner/name` of a remote's address, for the forms hosts hand out; undefined for folders and anything else. */
export function ownerAndName(url: string | undefined): string | undefined {
  if (!url) return undefined;
  const path =
    /^(?:https?|ssh|git):\/\/[^/]+\/(.+)$/.exec(url)?.[1] ??
    /^(?:[^@/]+@)?[^:/]+\.[^:/]+:(?!\/\/)(.+)$/.exec(url)?.[1];
  const match = /^([A-Za-z0-9._-]+)\/([A-Za-z0-9._-]+?)(?:\.git)?\/?$/.exec(path ?? '');
  return match ? `${match[1]}/${match[2]}` : undefined;
}
