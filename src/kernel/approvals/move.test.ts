import type { Insertable } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { ApprovalState } from '../../contract/ports.ts';
import type { Entry } from '../log/entry.ts';
import { writeWithEvidence } from '../log/write.ts';
import type { ApprovalsTable } from '../store/tables.ts';
import { AT, minutesLater, rowOf } from './approvals.fixture.ts';
import { type ApprovalRow, ask, type Change, type Evidence, move, moveMany, type Where } from './move.ts';
import type { TransitionName } from './transitions.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore('sqlite');
});
afterAll(() => store.close());
beforeEach(async () => {
  for (const table of ['approvals', 'events'] as const) await store.database.db.deleteFrom(table).execute();
});

const BY: Evidence = { at: minutesLater(5), by: 'person:ada' };

const insert = (more: Partial<Insertable<ApprovalsTable>> = {}): Promise<ApprovalRow> =>
  store.database.db.insertInto('approvals').values(rowOf(more)).returningAll().executeTakeFirstOrThrow();
const moveRows = (
  name: TransitionName,
  where: Where,
  change: Change,
  evidence = BY,
): Promise<readonly ApprovalRow[]> =>
  writeWithEvidence(store.database, (write) => move(write, name, where, change, evidence));
const read = ({ id }: ApprovalRow) =>
  store.database.db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const entriesOf = async ({ uuid }: ApprovalRow): Promise<Entry[]> => {
  const rows = await store.database.db.selectFrom('audit_log').select('body').orderBy('seq').execute();
  return rows.map(({ body }) => JSON.parse(body) as Entry).filter(({ approval }) => approval?.uuid === uuid);
};
const events = async () => {
  const rows = await store.database.db.selectFrom('events').selectAll().orderBy('id').execute();
  return rows.map(({ topic, data, at }) => ({ topic, at, data: JSON.parse(data) }));
};

describe('a move', () => {
  it('changes the row, raises its version, and leaves an entry and an event', async () => {
    const row = await insert({ run_id: 'run-1' });
    const set = { state: 'approved', decided_by: 'person:ada' } as const;
    const [moved] = await moveRows('approve', { id: row.id, version: 1 }, set, {
      ...BY,
      extra: { why: 'x' },
    });
    expect(moved).toEqual({ ...row, ...set, version: 2 });
    expect(await read(row)).toEqual(moved);
    expect(await entriesOf(row)).toEqual([
      {
        v: 1,
        kind: 'approval',
        at: BY.at.toISOString(),
        run: 'run-1',
        tool: 'ledger_write',
        toolkit: 'ledger',
        principal: 'person:ada',
        digest: row.digest,
        status: 'approved',
        approval: {
          uuid: row.uuid,
          digest: row.digest,
          requester: 'agent:local',
          approver: 'person:ada',
        },
        extra: { why: 'x' },
      },
    ]);
    expect(await events()).toEqual([
      { topic: 'approvals', at: BY.at.toISOString(), data: { id: row.id, state: 'approved' } },
    ]);
  });

  it.each<[string, Where]>([
    ['ID', { id: 0 }],
    ['version', { version: 2 }],
    ['call', { callId: 'another' }],
    ['condition', { and: (eb) => eb('tool', '=', 'ledger_erase') }],
  ])('leaves a row alone that has another %s', async (_what, where) => {
    const row = await insert({ state: 'executing', call_id: 'own' });
    const own = { id: row.id, version: 1, callId: 'own' };
    expect(await moveRows('finish', { ...own, ...where }, { state: 'done' })).toEqual([]);
    expect(await read(row)).toEqual(row);
    expect([await entriesOf(row), await events()]).toEqual([[], []]);
    expect(await moveRows('finish', own, { state: 'done' })).toHaveLength(1);
  });

  it('is about every row that meets the conditions it names, and no other', async () => {
    const rows = [await insert({ tool: 'a' }), await insert({ tool: 'b' }), await insert({ tool: 'a' })];
    const moved = await moveRows('reject', { and: (eb) => eb('tool', '=', 'a') }, { state: 'rejected' });
    expect(moved.map(({ id }) => id)).toEqual([rows[0]?.id, rows[2]?.id]);
    expect((await events()).map(({ data }) => data.id)).toEqual([rows[0]?.id, rows[2]?.id]);
  });

  it.each<[TransitionName, string, string, ApprovalState]>([
    ['approve', 'call', 'rejected', 'approved'],
    ['approve', 'call', 'pending', 'done'],
    ['approve', 'permit', 'approved', 'approved'],
    ['withdraw', 'call', 'approved', 'withdrawn'],
    ['giveBack', 'call', 'executing', 'approved'],
    ['ask', 'call', 'pending', 'pending'],
  ])('does not %s a %s that is %s into %s', async (name, kind, state, to) => {
    const row = await insert({ kind, state });
    expect(await moveRows(name, { id: row.id }, { state: to })).toEqual([]);
    expect(await read(row)).toEqual(row);
  });

  it.each<[TransitionName, string, ApprovalState]>([
    ['withdraw', 'approved', 'withdrawn'],
    ['giveBack', 'executing', 'approved'],
    ['giveBack', 'indeterminate', 'approved'],
  ])('can %s a permit that is %s into %s', async (name, state, to) => {
    const row = await insert({ kind: 'permit', state });
    expect(await moveRows(name, { id: row.id }, { state: to })).toMatchObject([{ state: to }]);
  });
});

describe('the entry of a move', () => {
  it.each<[TransitionName, string, ApprovalState, number]>([
    ['begin', 'approved', 'executing', 0],
    ['finish', 'executing', 'done', 0],
    ['settle', 'indeterminate', 'failed', 0],
    ['late', 'failed', 'done', 0],
    ['lose', 'executing', 'indeterminate', 0],
    ['lose', 'executing', 'failed', 1],
    ['answer', 'approved', 'done', 1],
    ['reopen', 'approved', 'pending', 1],
    ['invalidate', 'approved', 'failed', 1],
  ])('is written once: %s from %s to %s has %i of its own', async (name, state, to, own) => {
    const row = await insert({ state });
    expect(await moveRows(name, { id: row.id }, { state: to })).toHaveLength(1);
    expect(await entriesOf(row)).toHaveLength(own);
  });

  it('names the approver only on an approval, and the effect only of a call that gave it back', async () => {
    const row = await insert();
    const where = { id: row.id };
    await moveRows('edit', where, { state: 'pending' });
    await moveRows('approve', where, { state: 'approved' });
    await moveRows('begin', where, { state: 'executing' });
    await moveRows('giveBack', where, { state: 'pending' }, { ...BY, code: 'unavailable' });
    await moveRows('reject', where, { state: 'rejected' });
    const about = { uuid: row.uuid, digest: row.digest, requester: 'agent:local' };
    const common = {
      v: 1,
      at: BY.at.toISOString(),
      principal: 'person:ada',
      tool: 'ledger_write',
      toolkit: 'ledger',
      digest: row.digest,
    };
    expect(await entriesOf(row)).toEqual([
      { ...common, kind: 'edit', status: 'pending', approval: about },
      { ...common, kind: 'approval', status: 'approved', approval: { ...about, approver: 'person:ada' } },
      {
        ...common,
        kind: 'approval',
        status: 'returned',
        code: 'unavailable',
        effect: 'change',
        approval: about,
      },
      { ...common, kind: 'approval', status: 'rejected', approval: about },
    ]);
  });

  it('says that it is about a permit, and on expiry nothing of people', async () => {
    const row = await insert({ kind: 'permit', state: 'approved' });
    await moveRows('reopen', { id: row.id }, { state: 'pending' });
    await moveRows('expire', { id: row.id }, { state: 'expired' });
    const { uuid, digest } = row;
    expect((await entriesOf(row)).map(({ approval }) => approval)).toEqual([
      { uuid, digest, requester: 'agent:local', permit: true },
      { uuid, digest },
    ]);
  });
});

describe('a move of many', () => {
  const rejectAll = (tool: string) =>
    writeWithEvidence(store.database, (write) =>
      moveMany(write, 'reject', { and: (eb) => eb('tool', '=', tool) }, { state: 'rejected' }, BY),
    );

  it('leaves an entry for each and one event', async () => {
    const rows = [await insert({ tool: 'a', run_id: 'r' }), await insert({ tool: 'a', kind: 'permit' })];
    expect(await rejectAll('a')).toBe(2);
    for (const row of rows)
      expect(await entriesOf(row)).toMatchObject([
        {
          status: 'rejected',
          tool: 'a',
          toolkit: 'ledger',
          approval: { requester: 'agent:local', digest: row.digest },
        },
      ]);
    expect((await entriesOf(rows[0] ?? (await insert())))[0]?.run).toBe('r');
    expect(await events()).toEqual([
      { topic: 'approvals', at: BY.at.toISOString(), data: { count: 2, state: 'rejected' } },
    ]);
  });

  it('leaves nothing when none matches', async () => {
    const row = await insert({ tool: 'a' });
    expect(await rejectAll('b')).toBe(0);
    expect([await read(row), await entriesOf(row), await events()]).toEqual([row, [], []]);
  });
});

describe('the request', () => {
  it('is pending in its first version, with an entry and an event of its own time', async () => {
    const { state: _state, version: _version, ...row } = rowOf({ created_at: AT.toISOString() });
    const asked = await writeWithEvidence(store.database, (write) => ask(write, row, { sign: 1 }));
    expect(asked).toMatchObject({ ...row, state: 'pending', version: 1 });
    expect(await entriesOf(asked)).toEqual([
      {
        v: 1,
        kind: 'approval',
        at: AT.toISOString(),
        tool: 'ledger_write',
        toolkit: 'ledger',
        principal: 'agent:local',
        digest: row.digest,
        status: 'pending',
        rule: 'ask',
        approval: { uuid: row.uuid, digest: row.digest, requester: 'agent:local' },
        extra: { sign: 1 },
      },
    ]);
    expect(await events()).toEqual([
      { topic: 'approvals', at: AT.toISOString(), data: { id: asked.id, state: 'pending' } },
    ]);
  });
});
