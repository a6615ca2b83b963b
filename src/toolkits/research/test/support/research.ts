import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { Log } from '../../../../contract/ports.ts';
import { openSqlite } from '../../../../storage/sqlite.ts';
import { migration } from '../../migrations/030-research.ts';
import { createProject } from '../../project/create.ts';
import { ChangeJournal } from '../../project/journal.ts';
import { openProject, type SqliteProject } from '../../project/store.ts';
import type { ChangeBy } from '../../project/types.ts';
import type { ResearchTables } from '../../tables.ts';

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface ResearchBench {
  /** Holds projects, state and store; gone after `close`. */
  readonly dir: string;
  readonly db: Kysely<ResearchTables>;
  /** Opens a project folder, as the toolkit does. */
  open(path: string): SqliteProject;
  /** A new project of ours. */
  create(name: string): SqliteProject;
  close(): Promise<void>;
}

/** The research toolkit's store and projects in a temporary folder. A child process passes the folder of its parent. */
export async function openBench(
  dir = mkdtempSync(join(tmpdir(), 'countersign-research-')),
): Promise<ResearchBench> {
  mkdirSync(dir, { recursive: true });
  const { db } = openSqlite<ResearchTables>(join(dir, 'store.db'));
  const tables = await db.introspection.getTables();
  if (!tables.some(({ name }) => name === 'research_changes')) {
    await migration.up(db as unknown as Kysely<unknown>, 'sqlite');
  }
  const opened: SqliteProject[] = [];
  const open = (path: string) => {
    const project = openProject(path, {
      journal: new ChangeJournal(db, path),
      stateDir: join(dir, 'state'),
      backupsKept: 3,
      log: silentLog,
      now: () => new Date(),
    });
    opened.push(project);
    return project;
  };
  return {
    dir,
    db,
    open,
    create: (name) => open(createProject(join(dir, `${name}.qda`), { now: new Date(), coder: 'ada' })),
    async close() {
      for (const project of opened) project.close();
      await db.destroy();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A change by an agent, approved by no one. */
export const byAgent = (tool = 'test', more: Partial<ChangeBy> = {}): ChangeBy => ({
  callId: crypto.randomUUID(),
  tool,
  owner: 'AI: tester',
  principal: 'agent:local',
  ...more,
});
