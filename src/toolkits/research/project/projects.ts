import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { Log } from '../../../contract/ports.ts';
import { type Principal, principalName } from '../../../contract/principal.ts';
import { makeFolder } from '../../../lib/file-error.ts';
import { ResearchError } from '../errors.ts';
import type { ResearchTables } from '../tables.ts';
import { createProject } from './create.ts';
import { identify } from './identity.ts';
import { ChangeJournal } from './journal.ts';
import { madeAt, openProject, resolveProject, type SqliteProject } from './store.ts';

export interface OpenProject {
  readonly id: string;
  readonly store: SqliteProject;
}

export interface ProjectsOptions {
  readonly db: Kysely<ResearchTables>;
  readonly dataDir: string;
  /** From `[research] project`, used until a person opens or closes one. */
  readonly configured: string | undefined;
  readonly backupsKept: number;
  readonly log: Log;
  now(): Date;
  changed?(projectId: string, tool: string): void;
}

/** Which project is open is kept in the store, so that the command line, the web app and every server agree. */
export class Projects {
  readonly #options: ProjectsOptions;
  readonly #open = new Map<string, OpenProject & { readonly inode: string }>();

  constructor(options: ProjectsOptions) {
    this.#options = options;
  }

  /** The open project, or the fault every tool gives without one. */
  async current(): Promise<OpenProject> {
    const project = await this.find();
    if (!project) throw new ResearchError('no_project', 'No project open');
    return project;
  }

  async find(): Promise<OpenProject | undefined> {
    const path = await this.#currentPath();
    return path === undefined ? undefined : this.#at(path);
  }

  async open(path: string, by: Principal): Promise<OpenProject> {
    const project = await this.#at(resolveProject(path));
    await this.#note(project.id, by);
    return project;
  }

  async create(
    path: string,
    by: Principal,
    options: { coder?: string; memo?: string } = {},
  ): Promise<OpenProject> {
    const coder = options.coder ?? (by.kind === 'person' ? by.id : '');
    return this.open(createProject(path, { now: this.#options.now(), coder, memo: options.memo }), by);
  }

  async close(by: Principal): Promise<void> {
    await this.#note(null, by);
  }

  /** Which project was open at a time; undefined when none was, or none had been opened yet. */
  async openAt(at: Date): Promise<string | undefined> {
    const row = await this.#options.db
      .selectFrom('research_openings')
      .select('project_id')
      .where('at', '<=', at.toISOString())
      .orderBy('id', 'desc')
      .executeTakeFirst();
    if (row) return row.project_id ?? undefined;
    const { configured } = this.#options;
    return configured === undefined ? undefined : (await this.#at(resolveProject(configured))).id;
  }

  /** Projects seen before, the one used last first. */
  async recent(limit = 10): Promise<{ path: string; last_opened: string }[]> {
    const rows = await this.#options.db
      .selectFrom('research_openings')
      .innerJoin('research_projects', 'research_projects.id', 'research_openings.project_id')
      .select((eb) => ['path', eb.fn.max('at').as('last_opened')])
      .groupBy('path')
      .orderBy('last_opened', 'desc')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ path: row.path, last_opened: String(row.last_opened) }));
  }

  /** When this project was open: from, and until when if it no longer is. */
  async openIntervals(projectId: string): Promise<{ from: Date; until: Date | undefined }[]> {
    const rows = await this.#options.db.selectFrom('research_openings').selectAll().orderBy('id').execute();
    const openIntervals = rows.flatMap((row, at) => {
      if (row.project_id !== projectId) return [];
      const next = rows[at + 1];
      return [{ from: new Date(row.at), until: next && new Date(next.at) }];
    });
    // Named by the configuration, it was open before anyone opened anything.
    const first = rows[0];
    return openIntervals.length > 0
      ? openIntervals
      : [{ from: new Date(0), until: first && new Date(first.at) }];
  }

  /** The project a call changed, or began to change, whichever is open now. */
  async ofCall(callId: string): Promise<OpenProject | undefined> {
    const row = await this.#options.db
      .selectFrom('research_changes')
      .innerJoin('research_projects', 'research_projects.id', 'research_changes.project_id')
      .select('path')
      .where('call_id', '=', callId)
      .executeTakeFirst();
    return row && this.#at(resolveProject(row.path));
  }

  /** Where a project was when it was last opened here. */
  async pathOf(projectId: string): Promise<string | undefined> {
    const row = await this.#options.db
      .selectFrom('research_projects')
      .select('path')
      .where('id', '=', projectId)
      .executeTakeFirst();
    return row?.path;
  }

  /** Where caches for a project live. */
  folderOf(project: OpenProject): string {
    const folder = join(this.#options.dataDir, 'research', project.id);
    makeFolder(folder);
    return folder;
  }

  shutDown(): void {
    for (const { store } of this.#open.values()) store.close();
    this.#open.clear();
  }

  async #currentPath(): Promise<string | undefined> {
    const { db, configured } = this.#options;
    const row = await db
      .selectFrom('research_openings')
      .leftJoin('research_projects', 'research_projects.id', 'research_openings.project_id')
      .select(['research_openings.project_id', 'path'])
      .orderBy('research_openings.id', 'desc')
      .executeTakeFirst();
    if (!row) return configured === undefined ? undefined : resolveProject(configured);
    return row.path === null ? undefined : resolveProject(row.path);
  }

  async #at(path: string): Promise<OpenProject> {
    const { db, dataDir, backupsKept, log, now, changed } = this.#options;
    const inode = inodeOf(path);
    const known = this.#open.get(path);
    // A project restored from a backup is another file under the same name.
    if (known?.inode === inode) return known;
    known?.store.close();
    this.#open.delete(path);
    const id = await identify(db, { path, madeAt: madeAt(path) }, now());
    const again = this.#open.get(path);
    if (again) return again;
    const store = openProject(path, {
      journal: new ChangeJournal(db, id),
      stateDir: join(dataDir, 'research', 'locks'),
      backupsKept,
      log,
      now,
      changed: ({ tool }) => changed?.(id, tool),
    });
    const project = { id, store, inode };
    this.#open.set(path, project);
    await store.settleUnfinished();
    return project;
  }

  async #note(projectId: string | null, by: Principal): Promise<void> {
    await this.#options.db
      .insertInto('research_openings')
      .values({ project_id: projectId, at: this.#options.now().toISOString(), by: principalName(by) })
      .execute();
  }
}

function inodeOf(path: string): string {
  const { dev, ino } = statSync(join(path, 'data.qda'));
  return `${dev}:${ino}`;
}
