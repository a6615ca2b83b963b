import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { LogScribe, writeSampleLog } from '../../../test/support/sample-log.ts';
import { type ErasureScope, erasePayloads } from './erase.ts';
import { checkProof } from './proof/check.ts';
import { proveCall } from './proof/prove.ts';
import { verifyLog } from './verify/verify.ts';

describe.each(ENGINES)('erasing on %s', (engine) => {
  let store: TestStore;
  let scribe: LogScribe;
  beforeEach(async () => {
    store = await openTestStore(engine);
    scribe = await LogScribe.open(store.database, store.dataDir);
    await writeSampleLog(scribe);
  });
  afterEach(() => store.close());

  const erase = (scope: ErasureScope) =>
    erasePayloads(store.database, scope, {
      artifacts: scribe.artifacts,
      principal: 'person:ada',
      now: scribe.now(),
    });
  const verify = () => verifyLog(store.database, { artifacts: scribe.artifacts });
  const payloads = () => store.database.db.selectFrom('audit_payloads').selectAll().execute();

  it('removes body and salt of the named calls, records it, and breaks no proof', async () => {
    const before = await proveCall(store.database, scribe.signer, 'call-b');
    expect(await erase({ calls: ['call-b', 'unknown'] })).toEqual({
      payloads: 2,
      artifacts: [],
      approvals: 0,
    });
    const wiped = (await payloads()).filter(({ call_id }) => call_id === 'call-b');
    for (const row of wiped)
      expect(row).toMatchObject({ body: null, salt: '', hash: expect.stringMatching(/^sha256:/) });
    expect(await verify()).toMatchObject({ ok: true, problems: [], payloads: { erased: 2 } });
    expect(checkProof(before).ok).toBe(true);
    expect(checkProof(await proveCall(store.database, scribe.signer, 'call-b')).ok).toBe(true);
  });

  it('removes everything older than a time, with its artifacts, and nothing younger', async () => {
    const rows = (await payloads()).filter(({ call_id }) => call_id === 'call-h');
    const limit = new Date(rows.map(({ at }) => at).sort()[0] ?? '');
    const { payloads: count, artifacts } = await erase({ before: limit });
    expect(count).toBe(11);
    expect(artifacts).toHaveLength(2);
    for (const id of artifacts) expect(await scribe.artifacts.read(id)).toBeUndefined();
    expect((await payloads()).filter(({ body }) => body !== null).map(({ call_id }) => call_id)).toEqual([
      'call-h',
      'call-h',
      'call-i',
    ]);
    expect(await verify()).toMatchObject({ ok: true, problems: [], artifacts: { verified: 0, erased: 2 } });
  });

  it('keeps an artifact that another call still refers to', async () => {
    const shared = await scribe.artifacts.write('again.log', 'text/plain', 'all tests passed\n');
    await scribe.change('call-j', { artifacts: [shared] });
    const { artifacts } = await erase({ calls: ['call-e'] });
    expect(artifacts).toHaveLength(1);
    expect(await scribe.artifacts.check(shared.id)).toBe('intact');
    expect(await verify()).toMatchObject({ ok: true, problems: [] });
  });

  it('does nothing the second time, not even an entry', async () => {
    await erase({ calls: ['call-b'] });
    const { size } = await verify();
    expect(await erase({ calls: ['call-b'] })).toEqual({ payloads: 0, artifacts: [], approvals: 0 });
    expect((await verify()).size).toBe(size);
  });

  it('wants to know what to erase', async () => {
    await expect(erase({})).rejects.toThrow('Specify what to erase');
  });

  it('cannot be used as an excuse: one more erased payload than the log records is noticed', async () => {
    await erase({ calls: ['call-b'] });
    const row = (await payloads()).find(({ erased_at }) => erased_at !== null);
    await store.database.db
      .updateTable('audit_payloads')
      .set({ body: null, salt: '', erased_at: row?.erased_at ?? null })
      .where('call_id', '=', 'call-h')
      .where('kind', '=', 'args')
      .execute();
    expect((await verify()).first).toMatchObject({
      code: 'payload',
      message: expect.stringContaining('the log says 2 were'),
    });
  });

  it('cannot be backdated: an erasure time the log does not know is noticed', async () => {
    await store.database.db
      .updateTable('audit_payloads')
      .set({ body: null, salt: '', erased_at: '2026-01-01T00:00:00.000Z' })
      .where('call_id', '=', 'call-h')
      .where('kind', '=', 'args')
      .execute();
    expect((await verify()).first).toMatchObject({ code: 'payload', seq: 14 });
  });

  it('takes the copies in the queue and in the replay store with it, once they are over', async () => {
    const { db } = store.database;
    const row = {
      kind: 'call',
      tool: 'post',
      toolkit: 'x',
      effect: 'change',
      digest: 'd',
      requester: 'agent:local',
      reason: '',
      rule: '',
      risks: '[]',
      context: '{"why":"private matter"}',
      created_at: '2026-01-01T00:00:00.000Z',
      version: 1,
    };
    const args = '{"text":"private matter"}';
    await db
      .insertInto('approvals')
      .values([
        {
          ...row,
          uuid: 'u1',
          state: 'done',
          args,
          summary: 'private matter',
          call_id: 'call-e',
          outcome: args,
        },
        { ...row, uuid: 'u2', state: 'pending', args, summary: 'still waiting' },
      ])
      .execute();
    const { id } = await db
      .selectFrom('approvals')
      .select('id')
      .where('uuid', '=', 'u1')
      .executeTakeFirstOrThrow();
    await db
      .insertInto('approval_edits')
      .values({
        approval_id: id,
        edited_at: 'x',
        editor: 'p',
        old_args: args,
        new_args: args,
        old_digest: 'a',
        new_digest: 'b',
      })
      .execute();
    await db
      .insertInto('idempotency')
      .values({
        scope_key: 'k',
        digest: 'd',
        call_id: 'call-e',
        state: 'ok',
        outcome: args,
        created_at: 'x',
        expires_at: null,
      })
      .execute();
    expect(await erase({ calls: ['call-e'] })).toMatchObject({ approvals: 1 });
    const left = await Promise.all([
      db.selectFrom('approvals').selectAll().where('uuid', '=', 'u1').execute(),
      db.selectFrom('approval_edits').selectAll().execute(),
      db.selectFrom('idempotency').selectAll().execute(),
    ]);
    expect(JSON.stringify(left)).not.toContain('private matter');
    expect(left[2]).toHaveLength(1);
    const waiting = await db
      .selectFrom('approvals')
      .select('args')
      .where('uuid', '=', 'u2')
      .executeTakeFirst();
    expect(waiting?.args).toBe(args);
  });

  it.each(['pending', 'approved', 'executing', 'indeterminate'])(
    'leaves the copy in the queue alone while it is %s, although the payload of its call goes',
    async (state) => {
      const { db } = store.database;
      const args = '{"text":"still needed"}';
      const { id } = await db
        .insertInto('approvals')
        .values({
          uuid: 'u1',
          kind: 'call',
          state,
          tool: 'post',
          toolkit: 'x',
          effect: 'change',
          args,
          digest: 'd',
          requester: 'agent:local',
          reason: '',
          rule: '',
          summary: 'Post',
          risks: '[]',
          context: '{}',
          created_at: '2026-01-01T00:00:00.000Z',
          call_id: 'call-e',
          version: 1,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      expect(await erase({ calls: ['call-e'] })).toMatchObject({ approvals: 0 });
      const row = db.selectFrom('approvals').select(['args', 'summary']).where('id', '=', id);
      expect(await row.executeTakeFirstOrThrow()).toMatchObject({ args, summary: 'Post' });
    },
  );
});

describe('the file of an SQLite database', () => {
  it('holds no trace of an erased text', async () => {
    const store = await openTestStore('sqlite');
    const scribe = await LogScribe.open(store.database, store.dataDir);
    const secret = 'a sentence that no one should find again';
    await scribe.write({ kind: 'read', call: 'call-x', status: 'ok' }, { args: { text: secret } });
    const held = () => [store.url, `${store.url}-wal`].filter((file) => readFileSync(file).includes(secret));
    expect(held()).not.toEqual([]);
    const { artifacts } = scribe;
    await erasePayloads(
      store.database,
      { calls: ['call-x'] },
      { artifacts, principal: 'person:ada', now: scribe.now() },
    );
    expect(held()).toEqual([]);
    await store.close();
  });
});
