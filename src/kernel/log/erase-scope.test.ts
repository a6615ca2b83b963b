import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { LogScribe } from '../../../test/support/sample-log.ts';
import { type ErasureScope, erasePayloads } from './erase.ts';
import { verifyLog } from './verify/verify.ts';

const SENTENCE = 'a sentence that no one should find again';

describe('what an erasure takes and records', () => {
  let store: TestStore;
  let scribe: LogScribe;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    scribe = await LogScribe.open(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  const erase = (scope: ErasureScope, now = scribe.now()) =>
    erasePayloads(store.database, scope, { artifacts: scribe.artifacts, principal: 'person:ada', now });
  const erasures = async () => {
    const rows = await store.database.db
      .selectFrom('audit_log')
      .select(['body'])
      .where('kind', '=', 'erasure')
      .orderBy('seq')
      .execute();
    return rows.map(({ body }) => JSON.parse(body) as { principal: string; extra: Record<string, unknown> });
  };
  const approval = async (
    uuid: string,
    more: { call_id?: string; decided_at?: string; state?: string; text?: string } = {},
  ): Promise<number> => {
    const { text = 'a private matter', state = 'done', ...rest } = more;
    const { id } = await store.database.db
      .insertInto('approvals')
      .values({
        uuid,
        state,
        kind: 'call',
        tool: 'post',
        toolkit: 'x',
        effect: 'change',
        args: JSON.stringify({ text }),
        digest: 'd',
        requester: 'agent:local',
        reason: '',
        rule: '',
        summary: text,
        risks: '[]',
        context: '{}',
        created_at: '2026-01-01T00:00:00.000Z',
        version: 1,
        ...rest,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  };
  const summaries = async () => {
    const rows = await store.database.db
      .selectFrom('approvals')
      .select(['uuid', 'summary'])
      .orderBy('id')
      .execute();
    return Object.fromEntries(rows.map(({ uuid, summary }) => [uuid, summary]));
  };
  const readCall = (call: string) =>
    scribe.write({ kind: 'read', call, status: 'ok' }, { args: { text: `words of ${call}` } });

  it('is recorded with who asked for it, what was asked for and what went', async () => {
    const file = await scribe.artifacts.write('a.txt', 'text/plain', 'a');
    await scribe.change('call', { artifacts: [file] });
    const before = scribe.now();
    await erase({ calls: ['call', 'unknown'], before });
    expect(await erasures()).toMatchObject([{ principal: 'person:ada' }]);
    expect((await erasures()).map(({ extra }) => extra)).toEqual([
      { payloads: 2, approvals: 0, artifacts: [file.id], before: before.toISOString(), calls: 2 },
    ]);
  });

  it('is recorded without what was not asked for', async () => {
    await readCall('one');
    await erase({ calls: ['one'] });
    await readCall('two');
    const before = scribe.now();
    await erase({ before });
    expect((await erasures()).map(({ extra }) => extra)).toEqual([
      { payloads: 1, approvals: 0, artifacts: [], calls: 1 },
      { payloads: 1, approvals: 0, artifacts: [], before: before.toISOString() },
    ]);
  });

  it('is recorded also where as many payloads as artifacts or approvals went', async () => {
    const file = await scribe.artifacts.write('a.txt', 'text/plain', 'a');
    const link = { kind: 'read', call: 'one', status: 'ok', artifacts: [file] } as const;
    await scribe.write(link, { args: {} });
    expect(await erase({ calls: ['one'] })).toEqual({ payloads: 1, artifacts: [file.id], approvals: 0 });
    await readCall('two');
    await approval('u', { call_id: 'two' });
    expect(await erase({ calls: ['two'] })).toEqual({ payloads: 1, artifacts: [], approvals: 1 });
    expect(await erasures()).toHaveLength(2);
    expect(await verifyLog(store.database, { artifacts: scribe.artifacts })).toMatchObject({ ok: true });
  });

  it('leaves no trace in the file where as many payloads as approvals went', async () => {
    const text = SENTENCE.padEnd(20_000, '.');
    await scribe.write({ kind: 'read', call: 'call', status: 'ok' }, { args: { text } });
    await approval('u', { call_id: 'call', text });
    const held = () =>
      [store.url, `${store.url}-wal`].filter((file) => readFileSync(file).includes(SENTENCE));
    expect(held()).not.toEqual([]);
    await erase({ calls: ['call'] });
    expect(held()).toEqual([]);
  });

  it('leaves no trace in the file where only an approval went', async () => {
    const text = SENTENCE;
    await approval('u', { decided_at: '2026-01-01T00:00:00.000Z', text });
    await erase({ before: scribe.now() });
    expect([store.url, `${store.url}-wal`].filter((file) => readFileSync(file).includes(SENTENCE))).toEqual(
      [],
    );
  });

  it('names many artifacts in several entries and counts the rest once', async () => {
    const { db } = store.database;
    await readCall('call');
    const ids = Array.from({ length: 1_001 }, (_, index) => `sha256:${String(index).padStart(64, '0')}`);
    for (let start = 0; start < ids.length; start += 500) {
      const some = ids.slice(start, start + 500);
      await db
        .insertInto('artifacts')
        .values(some.map((id) => ({ id, media_type: 'text/plain', size: 1, created_at: 'x' })))
        .execute();
      await db
        .insertInto('call_artifacts')
        .values(some.map((artifact_id) => ({ call_id: 'call', artifact_id, name: 'n' })))
        .execute();
    }
    expect((await erase({ calls: ['call'] })).artifacts).toEqual(ids);
    expect((await erasures()).map(({ extra }) => extra)).toEqual([
      { payloads: 1, approvals: 0, artifacts: ids.slice(0, 1_000), calls: 1 },
      { payloads: 0, approvals: 0, artifacts: ids.slice(1_000), calls: 1 },
    ]);
    expect(await db.selectFrom('artifacts').select('id').execute()).toEqual([]);
    expect(await db.selectFrom('call_artifacts').select('artifact_id').execute()).toEqual([]);
  });

  it('takes more calls than one statement has parameters for', async () => {
    const calls = Array.from({ length: 501 }, (_, index) => `unknown-${index}`);
    await readCall('first');
    await readCall('last');
    await readCall('other');
    expect((await erase({ calls: ['first', ...calls, 'last'] })).payloads).toBe(2);
    expect((await erase({ calls: [] })).payloads).toBe(0);
    expect(await erasures()).toHaveLength(1);
    const left = store.database.db
      .selectFrom('audit_payloads')
      .select('call_id')
      .where('body', 'is not', null);
    expect(await left.execute()).toEqual([{ call_id: 'other' }]);
  });

  it('takes approvals that were decided before a time, without a call too, and none after', async () => {
    const early = scribe.now().toISOString();
    const before = scribe.now();
    await approval('early', { decided_at: early, state: 'rejected' });
    await approval('at', { decided_at: before.toISOString(), state: 'rejected' });
    await approval('open', { decided_at: early, state: 'approved' });
    await approval('never');
    expect(await erase({ before })).toMatchObject({ approvals: 1 });
    expect(await summaries()).toEqual({
      early: '(erased)',
      at: 'a private matter',
      open: 'a private matter',
      never: 'a private matter',
    });
    expect(await erase({ before })).toMatchObject({ approvals: 0 });
  });

  it.each(['done', 'failed', 'rejected', 'expired', 'withdrawn'])(
    'takes the copy in the queue, its previews and edits once it is %s',
    async (state) => {
      const { db } = store.database;
      await readCall('call');
      const id = await approval('u', { call_id: 'call', state });
      await db.insertInto('approval_previews').values({ approval_id: id, body: 'private' }).execute();
      const edit = { editor: 'person:ada', old_args: '{"a":1}', new_args: '{"a":2}', edited_at: 'x' };
      await db
        .insertInto('approval_edits')
        .values({ ...edit, approval_id: id, old_digest: 'a', new_digest: 'b' })
        .execute();
      expect(await erase({ calls: ['call'] })).toMatchObject({ approvals: 1 });
      expect(await db.selectFrom('approvals').selectAll().executeTakeFirst()).toMatchObject({
        args: '{}',
        context: '{}',
        summary: '(erased)',
        gist: null,
        risks: '[]',
        outcome: null,
      });
      expect(await db.selectFrom('approval_previews').selectAll().execute()).toEqual([]);
      expect(await db.selectFrom('approval_edits').selectAll().executeTakeFirst()).toMatchObject({
        old_args: '{}',
        new_args: '{}',
        old_digest: 'a',
      });
    },
  );

  it('replaces the stored result that a repeated call would get', async () => {
    await readCall('call');
    const kept = { digest: 'd', call_id: 'call', created_at: 'x', expires_at: null };
    await store.database.db
      .insertInto('idempotency')
      .values([
        { ...kept, scope_key: 'a', state: 'ok', outcome: '{"status":"ok","data":"private"}' },
        { ...kept, scope_key: 'b', state: 'running', outcome: null },
        { ...kept, scope_key: 'c', call_id: 'other', state: 'ok', outcome: '{"status":"ok"}' },
      ])
      .execute();
    await erase({ calls: ['call'] });
    const rows = await store.database.db
      .selectFrom('idempotency')
      .select('outcome')
      .orderBy('scope_key')
      .execute();
    expect(rows.map(({ outcome }) => outcome && JSON.parse(outcome))).toEqual([
      { status: 'ok', data: null, notes: { erased: true } },
      null,
      { status: 'ok' },
    ]);
  });
});
