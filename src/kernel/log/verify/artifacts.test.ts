import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { ArtifactStore } from '../artifacts.ts';
import { ArtifactCheck } from './artifacts.ts';
import { dated, type EntryDraft } from './history.fixture.ts';
import { Problems } from './report.ts';

describe('the artifacts that entries name', () => {
  let store: TestStore;
  let artifacts: ArtifactStore;
  let file: Awaited<ReturnType<ArtifactStore['write']>>;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    artifacts = new ArtifactStore(store.database, store.dataDir);
    file = await artifacts.write('a.log', 'text/plain', 'all tests passed\n');
  });
  afterEach(() => store.close());

  const link = (call = 'c', name = 'a.log', artifact = file.id) =>
    store.database.db
      .insertInto('call_artifacts')
      .values({ call_id: call, artifact_id: artifact, name })
      .execute();
  const call = (more: Partial<EntryDraft> = {}): EntryDraft => ({
    kind: 'read',
    call: 'c',
    artifacts: [file],
    ...more,
  });
  const erasure = (ids: unknown): EntryDraft => ({ kind: 'erasure', extra: { artifacts: ids as string[] } });
  /** One page for each list. */
  const verify = async (
    pages: EntryDraft[][],
    { later = [], files = true }: { later?: EntryDraft[]; files?: boolean } = {},
  ) => {
    const problems = new Problems();
    const check = new ArtifactCheck(store.database, files ? artifacts : undefined, problems);
    let seq = 0;
    for (const page of pages) {
      for (const entry of page) {
        check.take(seq, dated(entry));
        seq += 1;
      }
      await check.checkPage();
    }
    check.finish(later.map(dated));
    return { problems: problems.list, counts: check.counts };
  };
  const named = (seq: number, what: string) => ({
    problems: [{ code: 'artifact', seq, message: `Entry ${seq}: ${what}.` }],
  });
  const gone = (why: string, seq = 0) =>
    named(seq, `artifact ${file.id} ${why}, and the log has no record of its erasure`);

  it('are verified once, however many calls name them', async () => {
    await link();
    await link('d', 'b.log');
    const other = call({ call: 'd', artifacts: [{ ...file, name: 'b.log' }] });
    expect(await verify([[{ kind: 'config' }, call()], [], [other, call()]])).toEqual({
      problems: [],
      counts: { verified: 1, erased: 0 },
    });
  });

  it('may be named by their hash alone, or by each of their names', async () => {
    await link();
    await link('c', 'b.log');
    const other = { ...file, name: 'b.log' };
    expect((await verify([[call({ artifacts: [file.id, other, file] })]])).problems).toEqual([]);
  });

  it('are named when the link of their call is gone or is that of another call', async () => {
    expect(await verify([[call()]])).toMatchObject(gone('is no longer linked to its call'));
    await link('d');
    expect(await verify([[{ kind: 'config' }, call()]])).toMatchObject(
      gone('is no longer linked to its call', 1),
    );
    expect(await verify([[call({ call: undefined })]])).toMatchObject(
      gone('is no longer linked to its call'),
    );
  });

  it('are named when they were called differently', async () => {
    await link('c', 'b.log');
    expect(await verify([[call()]])).toMatchObject(
      named(0, `artifact ${file.id} was called a.log, but its link says b.log`),
    );
  });

  it('are named when their row is gone', async () => {
    await link();
    await store.database.db.deleteFrom('artifacts').execute();
    expect(await verify([[call()]])).toMatchObject({
      ...gone('has lost its row'),
      counts: { verified: 0, erased: 1 },
    });
  });

  it('are named when their file is gone, where files are verified', async () => {
    await link();
    await artifacts.remove(file.id);
    expect(await verify([[call()]])).toMatchObject(gone('has lost its file'));
    expect(await verify([[call()]], { files: false })).toEqual({
      problems: [],
      counts: { verified: 0, erased: 0 },
    });
  });

  it('are named when their file was changed', async () => {
    await link();
    const hex = file.id.replace('sha256:', '');
    writeFileSync(join(store.dataDir, 'artifacts', hex.slice(0, 2), hex.slice(2)), 'no tests passed\n');
    expect(await verify([[call()]])).toEqual({
      ...named(0, `the file of artifact ${file.id} was changed`),
      counts: { verified: 0, erased: 0 },
    });
  });

  it('are named when their row has another size', async () => {
    await link();
    await store.database.db.updateTable('artifacts').set({ size: 99 }).execute();
    expect(await verify([[call()]])).toEqual({
      ...named(0, `artifact ${file.id} has 17 bytes, but its row says 99`),
      counts: { verified: 0, erased: 0 },
    });
  });

  it('are named once, for what was missed first', async () => {
    await store.database.db.deleteFrom('artifacts').execute();
    const { problems } = await verify([[call(), call({ call: 'd' })]]);
    expect(problems).toEqual(gone('is no longer linked to its call').problems);
  });

  it('may be gone when an erasure names them, earlier, later or after verify began', async () => {
    const erased = { problems: [], counts: { verified: 0, erased: 1 } };
    await store.database.db.deleteFrom('artifacts').execute();
    expect(await verify([[erasure([file.id]), call()]])).toEqual(erased);
    expect(await verify([[call()], [erasure(['other', file.id])]])).toEqual(erased);
    expect(await verify([[call()]], { later: [{ kind: 'erasure' }, erasure([file.id])] })).toEqual(erased);
  });

  it('may not be gone because of an erasure of others, or another entry that names them', async () => {
    await store.database.db.deleteFrom('artifacts').execute();
    const entries = [erasure(['other']), erasure(file.id), erasure([1]), { kind: 'erasure' } as const];
    const claimed: EntryDraft = { ...erasure([file.id]), kind: 'config' };
    expect(await verify([[call(), ...entries, claimed]])).toMatchObject(
      gone('is no longer linked to its call'),
    );
  });

  it('are compared on a page of more calls than are asked for together', async () => {
    const calls = Array.from({ length: 1001 }, (_, index) => `c${index}`);
    for (let start = 0; start < calls.length; start += 250) {
      const links = calls
        .slice(start, start + 250)
        .map((one) => ({ call_id: one, artifact_id: file.id, name: 'a.log' }));
      await store.database.db.insertInto('call_artifacts').values(links).execute();
    }
    const page = calls.map((one) => call({ call: one }));
    expect((await verify([page])).problems).toEqual([]);
  });
});
