import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { PrivacyStore } from '../privacy/rules.ts';
import { BatchStore } from '../suggestions/decide.ts';
import type { ResearchTables } from '../tables.ts';
import { makeQualCoderProject } from '../test/support/qualcoder.ts';
import { byAgent, silentLog } from '../test/support/research.ts';
import { Projects } from './projects.ts';

const ADA = { kind: 'person', id: 'ada' } as const;

describe.each(ENGINES)('projects on %s', (engine) => {
  let store: TestStore;
  let projects: Projects;
  let privacy: PrivacyStore;
  const now = () => new Date();
  const db = () => store.database.db as unknown as Kysely<ResearchTables>;
  const open = (configured?: string) =>
    new Projects({ db: db(), dataDir: store.dataDir, configured, backupsKept: 2, log: silentLog, now });
  beforeEach(async () => {
    store = await openTestStore(engine);
    projects = open();
    privacy = new PrivacyStore(db(), now);
  });
  afterEach(async () => {
    projects.shutDown();
    await store.close();
  });

  it('keep their identity when they are moved, and a copy keeps no fewer secrets', async () => {
    const { path } = makeQualCoderProject(store.dataDir, 14);
    const first = await projects.open(path, ADA);
    await privacy.setOffLimits(first.id, 1, true, 'person:ada');
    await privacy.setPseudonym(first.id, { original: 'Ada', pseudonym: 'P1' }, 'person:ada');

    const copy = join(store.dataDir, 'copy.qda');
    cpSync(path, copy, { recursive: true });
    const second = await projects.open(copy, ADA);
    expect(second.id).not.toBe(first.id);
    const rules = await privacy.rules(second.id);
    expect([...rules.offLimits]).toEqual([1]);
    expect(rules.names).toMatchObject([{ original: 'Ada', pseudonym: 'P1' }]);

    const moved = join(store.dataDir, 'moved.qda');
    renameSync(path, moved);
    expect((await projects.open(moved, ADA)).id).toBe(first.id);
  });

  it('are journaled, undone and found again by call', async () => {
    const { path } = makeQualCoderProject(store.dataDir, 14);
    const { id, store: project } = await projects.open(path, ADA);
    await project.write(byAgent('create_code', { callId: 'call-1', confidence: 90, rationale: 'r' }), (w) =>
      w.addCode({ name: 'X' }),
    );
    expect(await project.journal.ofCall('call-1')).toMatchObject([
      { state: 'applied', confidence: 90, rationale: 'r' },
    ]);
    expect((await projects.ofCall('call-1'))?.id).toBe(id);
    const [change] = await project.journal.recent(5);
    await project.undo(change?.id ?? 0, byAgent('undo_change'));
    expect(await project.journal.recent(5)).toMatchObject([{ undoes: change?.id }, { state: 'undone' }]);
    expect(project.codes()).toHaveLength(3);
  });

  it('are open for every process of the store, and known by the time they were open', async () => {
    const one = makeQualCoderProject(store.dataDir, 14, 'one');
    const two = makeQualCoderProject(store.dataDir, 13, 'two');
    const other = open(one.path);
    const configured = await other.current();
    expect(await other.openAt(new Date())).toBe(configured.id);
    await projects.open(two.path, ADA);
    const middle = new Date();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await other.current()).store.info().name).toBe('two');
    await projects.close(ADA);
    expect(await other.find()).toBeUndefined();
    await expect(other.current()).rejects.toMatchObject({ code: 'no_project' });
    expect(await other.openAt(middle)).not.toBe(configured.id);
    expect(await other.openAt(new Date())).toBeUndefined();
    expect((await projects.recent()).map(({ path }) => path)).toEqual([two.path]);
    other.shutDown();
  });

  it('are opened again when a backup was put in their place', async () => {
    const { path } = makeQualCoderProject(store.dataDir, 14, 'live');
    const saved = join(store.dataDir, 'saved.qda');
    cpSync(path, saved, { recursive: true });
    const before = await projects.open(path, ADA);
    await before.store.write(byAgent(), (writer) => writer.addCode({ name: 'later' }));
    renameSync(path, join(store.dataDir, 'broken.qda'));
    renameSync(saved, path);
    expect((await projects.current()).store.codes().map(({ name }) => name)).not.toContain('later');
  });

  it('remember a batch without suggestions', async () => {
    const batches = new BatchStore(db(), now);
    const id = await batches.open('p', 'auto_suggest_codes');
    expect(await batches.get(id)).toEqual({ id, projectId: 'p', tool: 'auto_suggest_codes' });
    expect(await batches.get('other')).toBeUndefined();
  });
});
