import type { Updateable } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import { digest } from '../../lib/canonical.ts';
import type { EntryInput } from '../log/entry.ts';
import type { ApprovalsTable } from '../store/tables.ts';
import { ADA, AT, appendToLog, approvalOf, minutesLater, rowOf } from './approvals.fixture.ts';
import { closeForged, ForgedApproval, requiredAtRequest, requireGenuine } from './genuine.ts';
import { toApproval } from './row.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore('sqlite');
});
afterAll(() => store.close());

type Said = Omit<EntryInput, 'at' | 'approval'> & { readonly approval?: Partial<EntryInput['approval']> };

/** Writes what the log is to say about an approval, in this order. */
const log = ({ uuid, digest: own, tool, kind }: Approval, ...said: readonly Said[]) =>
  appendToLog(
    store.database,
    said.map((one) => ({
      tool,
      ...one,
      at: AT.toISOString(),
      approval: {
        uuid,
        digest: own,
        requester: 'agent:local',
        ...(kind === 'permit' && { permit: true }),
        ...one.approval,
      },
    })),
  );

const moved = (status: string, more: Partial<Said> = {}): Said => ({ kind: 'approval', status, ...more });
const ASKED = moved('pending');
const APPROVED = moved('approved', { approval: { approver: 'person:ada' } });
const RETURNED = moved('returned');
const begun = (call: string): Said => ({ kind: 'intent', call, effect: 'change' });
const ended = (call: string, status: string): Said => ({ kind: 'outcome', call, status, effect: 'change' });
const settled = (call: string, status: string): Said => ({ kind: 'settled', call, status });

const check = (approval: Approval, state: 'pending' | 'approved' = 'pending') =>
  requireGenuine(store.database.db, store.database.engine, approval, state);
const refusal = (approval: Approval, state: 'pending' | 'approved' = 'pending') =>
  check(approval, state).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ForgedApproval) return error;
      throw error;
    },
  );
const decided = (more: Partial<Approval> = {}) =>
  approvalOf({ state: 'approved', decidedBy: ADA, decidedAt: AT, ...more });

describe('a row that the log confirms', () => {
  it('is believed while it is pending, and needs no signature unless the request says so', async () => {
    const approval = approvalOf();
    await log(approval, ASKED);
    expect(await check(approval)).toMatchObject({ required: 0, signed: undefined, spent: new Set() });
  });

  it('is believed once approved, even if its arguments were not stored with it', async () => {
    const approval = decided({ args: {}, digest: digest('ledger_write', { text: 'hello' }) });
    await log(approval, ASKED, APPROVED);
    await expect(check(approval, 'approved')).resolves.toBeDefined();
  });

  it.each([[undefined], [{ lines: 3 }]])('is believed as a permit bound to %j', async (binding) => {
    const permit = approvalOf({ kind: 'permit', binding });
    await log(permit, ASKED);
    await expect(check(permit)).resolves.toBeDefined();
  });

  it('is believed where older entries do not name the requester', async () => {
    const approval = approvalOf();
    await log(approval, moved('pending', { approval: { requester: undefined } }));
    await expect(check(approval)).resolves.toBeDefined();
  });

  it('is believed with the arguments of the last edit', async () => {
    const approval = approvalOf({ args: { text: 'edited' } });
    const before = digest('ledger_write', { text: 'first' });
    await log(approval, moved('pending', { approval: { digest: before } }), { kind: 'edit' });
    await expect(check(approval)).resolves.toBeDefined();
  });
});

describe('a row that contradicts the log', () => {
  it('is refused when the log has no request for it', async () => {
    const approval = approvalOf();
    expect(await refusal(approval)).toMatchObject({
      code: 'approval_invalid',
      detail: { approval_id: 7 },
      approval,
      logged: undefined,
      message: expect.stringContaining('does not match the audit log: the log has no request for it.'),
    });
  });

  it('is refused when one of its entries was changed afterwards', async () => {
    const approval = approvalOf();
    await log(approval, ASKED);
    await store.database.db
      .updateTable('audit_log')
      .set((eb) => ({ body: eb.fn('replace', ['body', eb.val('agent:local'), eb.val('agent:other')]) }))
      .where('body', 'like', `%${approval.uuid}%`)
      .execute();
    expect(await refusal(approval)).toMatchObject({
      logged: undefined,
      message: expect.stringContaining('the log has no request for it'),
    });
  });

  const [other, stranger] = ['0'.repeat(64), { kind: 'agent', id: 'other' } as const];
  it.each<[string, Partial<Approval>, string]>([
    ['digest', { digest: other }, 'the log says it is for another call'],
    ['tool', { tool: 'ledger_erase' }, 'the log says it is for another call'],
    ['arguments', { args: { text: 'forged' } }, 'the row does not have the arguments that were requested'],
    ['requester', { requester: stranger }, 'the log has agent:local as its requester'],
  ])('is refused with another %s', async (_what, forged, why) => {
    const approval = approvalOf();
    await log(approval, ASKED);
    expect((await refusal({ ...approval, ...forged }))?.message).toContain(why);
  });

  it('is refused when what a permit is bound to was changed', async () => {
    const permit = approvalOf({ kind: 'permit', binding: { lines: 3 } });
    await log(permit, ASKED);
    expect((await refusal({ ...permit, binding: { lines: 4 } }))?.message).toContain(
      'arguments that were requested',
    );
  });

  it.each(['call', 'permit'] as const)(
    'is refused when the log says it is another kind than %s',
    async (kind) => {
      const approval = decided({ kind });
      const permit = kind === 'call' ? true : undefined;
      await log(
        approval,
        moved('pending', { approval: { permit } }),
        moved('approved', { approval: { permit, approver: 'person:ada' } }),
      );
      expect((await refusal(approval, 'approved'))?.message).toContain(
        'the log says it is another kind of approval',
      );
    },
  );

  it('is refused when the decision does not name the requester and the request named another', async () => {
    const approval = decided({ requester: stranger });
    const approver = 'person:ada';
    await log(approval, ASKED, moved('approved', { approval: { approver, requester: undefined } }));
    expect((await refusal(approval, 'approved'))?.message).toContain('agent:local as its requester');
  });

  it.each([
    ['another person than the log', ADA, 'person:eve'],
    ['a person where the log has none', ADA, undefined],
    ['no one, as the log does', undefined, undefined],
    ['no one where the log has a person', undefined, 'person:ada'],
  ])('is refused when it was approved by %s', async (_who, decidedBy, approver) => {
    const approval = decided({ decidedBy });
    await log(approval, ASKED, moved('approved', { approval: { approver } }));
    expect((await refusal(approval, 'approved'))?.message).toContain(
      `the log has ${approver} as its approver`,
    );
  });
});

describe('the last word of the log on an approval', () => {
  const STORIES: readonly (readonly [string, readonly Said[]])[] = [
    ['pending', [moved('rejected'), ASKED]],
    ['rejected', [moved('rejected')]],
    ['approved', [APPROVED]],
    ['pending', [APPROVED, { kind: 'edit' }]],
    ['executing', [APPROVED, begun('1')]],
    ['done', [APPROVED, begun('1'), ended('1', 'ok')]],
    ['failed', [APPROVED, begun('1'), ended('1', 'failed')]],
    ['indeterminate', [APPROVED, begun('1'), ended('1', 'indeterminate')]],
    // The parts of a whole run under its approval, and do not end it.
    ['executing', [APPROVED, begun('1'), begun('2'), ended('2', 'ok')]],
    ['done', [APPROVED, begun('1'), begun('2'), ended('2', 'failed'), ended('1', 'ok')]],
    ['pending', [APPROVED, begun('1'), ended('1', 'failed'), RETURNED]],
    ['executing', [APPROVED, begun('1'), ended('1', 'failed'), RETURNED, APPROVED, begun('2')]],
    ['done', [APPROVED, begun('1'), ended('1', 'indeterminate'), settled('1', 'ok')]],
    ['failed', [APPROVED, begun('1'), ended('1', 'indeterminate'), settled('1', 'failed')]],
    ['indeterminate', [APPROVED, begun('1'), ended('1', 'indeterminate'), settled('2', 'failed')]],
    ['done', [APPROVED, begun('1'), RETURNED, settled('1', 'ok')]],
    ['pending', [APPROVED, begun('1'), RETURNED, settled('1', 'failed')]],
    ['done', [APPROVED, { kind: 'read', call: '1', status: 'ok', effect: 'read' }]],
    ['failed', [APPROVED, { kind: 'read', call: '1', status: 'failed', effect: 'read' }]],
    ['done', [APPROVED, { kind: 'call', call: '1', status: 'ok', effect: 'read' }]],
    // A change without an intent did not begin.
    ['approved', [APPROVED, { kind: 'call', call: '1', status: 'ok', effect: 'change' }]],
    ['approved', [APPROVED, { kind: 'call', call: '1', status: 'ok', effect: 'destroy' }]],
    ['approved', [APPROVED, { kind: 'refusal', call: '1', status: 'refused', effect: 'read' }]],
    ['approved', [APPROVED, { kind: 'dry_run', call: '1', status: 'dry_run', effect: 'change' }]],
  ];
  const inWords = (said: readonly Said[]): string =>
    said.map(({ kind, call = '', status = '' }) => [kind, call, status].filter(Boolean).join(' ')).join(', ');

  it.each(STORIES.map(([state, said]) => [state, inWords(said), said] as const))(
    'is %s after %s',
    async (state, _words, said) => {
      const approval = decided();
      await log(approval, ASKED, ...said);
      const believed = state === 'pending' ? 'pending' : 'approved';
      const denied = believed === 'pending' ? 'approved' : 'pending';
      expect((await refusal(approval, denied))?.message).toContain(
        `the row is ${denied}, but the log says ${state}`,
      );
      expect((await refusal(approval, believed))?.logged).toBe(state === believed ? undefined : state);
    },
  );

  it('keeps a returned permit approved, with the decision it had', async () => {
    const permit = decided({ kind: 'permit' });
    await log(permit, ASKED, APPROVED, begun('1'), ended('1', 'failed'), RETURNED);
    await expect(check(permit, 'approved')).resolves.toBeDefined();
  });
});

describe('the signatures in the log', () => {
  const [first, second] = ['a'.repeat(64), 'b'.repeat(64)];
  const signed = (...entries: string[]) => ({
    item: { version: 1, binding: null, expires: null },
    by: entries.map((entry) => ({ entry, salt: '0123456789abcdef' })),
  });
  const signedBy = (...entries: string[]): Said => ({ ...APPROVED, extra: { signed: signed(...entries) } });

  it('are those of the last decision; the earlier ones are spent', async () => {
    const approval = decided();
    await log(approval, ASKED, signedBy(first), begun('1'), RETURNED, signedBy(second));
    const { signed: last, spent } = await check(approval, 'approved');
    expect(last).toEqual(signed(second));
    expect(spent).toEqual(new Set([first]));
  });

  it('are none of a decision without one, or with something else in their place', async () => {
    const unsigned: readonly (JsonObject | undefined)[] = [
      undefined,
      {},
      { signed: 'yes' },
      { signed: { ...signed(first), more: 1 } },
    ];
    for (const extra of unsigned) {
      const approval = decided();
      await log(approval, ASKED, signedBy(second), ASKED, { ...APPROVED, extra });
      const { signed: last, spent } = await check(approval, 'approved');
      expect(last).toBeUndefined();
      expect(spent).toEqual(new Set([second]));
    }
  });

  it('are required as often as the strictest request says, and no decision says how often', async () => {
    const approval = decided();
    const asked = (sign: number | string): Said => ({ ...ASKED, extra: { sign } });
    await log(approval, asked(1), asked(2), asked(1), asked('many'), { ...APPROVED, extra: { sign: 5 } });
    expect(await check(approval, 'approved')).toMatchObject({ required: 2 });
    const { db, engine } = store.database;
    expect(await requiredAtRequest(db, engine, approval.uuid)).toBe(2);
    expect(await requiredAtRequest(db, engine, approvalOf().uuid)).toBe(0);
  });

  it('are required by no request whose entry was changed', async () => {
    const approval = approvalOf();
    await log(approval, { ...ASKED, extra: { sign: 2 } });
    const { db, engine } = store.database;
    await db
      .updateTable('audit_log')
      .set({ hash: '0'.repeat(64) })
      .where('body', 'like', `%${approval.uuid}%`)
      .execute();
    expect(await requiredAtRequest(db, engine, approval.uuid)).toBe(0);
  });
});

describe('a forged row', () => {
  const insert = async (more: Updateable<ApprovalsTable>) =>
    toApproval(
      await store.database.db
        .insertInto('approvals')
        .values(rowOf(more))
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  const read = (id: number) =>
    store.database.db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  it.each([
    ['failed', undefined],
    ['failed', 'pending'],
    ['failed', 'approved'],
    ['failed', 'failed'],
    ['done', 'done'],
    ['rejected', 'rejected'],
    ['indeterminate', 'indeterminate'],
    // It began, and may have happened.
    ['indeterminate', 'executing'],
  ] as const)('is closed as %s where the log says %s', async (state, logged) => {
    const approval = await insert({ state: 'approved', decided_by: 'person:ada' });
    const forged = new ForgedApproval(approval, logged, 'it was invented');
    await closeForged(store.database, forged, minutesLater(1));
    const row = await read(approval.id);
    expect(row).toMatchObject({ state, version: 2 });
    expect(row.outcome && JSON.parse(row.outcome)).toEqual(
      state === 'failed' ? { status: 'refused', code: 'approval_invalid', message: forged.message } : null,
    );
    const last = await store.database.db
      .selectFrom('audit_log')
      .select('body')
      .orderBy('seq', 'desc')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(last.body)).toMatchObject({
      status: state,
      code: 'approval_invalid',
      principal: 'system:kernel',
      at: minutesLater(1).toISOString(),
      approval: { uuid: approval.uuid },
    });
  });

  it('with another title is refused while it is pending, and no longer once it was decided on', async () => {
    const { id, uuid } = await insert({});
    const approval = decided({ id, uuid });
    await log(approval, moved('pending', { rule: 'ask', extra: { presentation_sha256: 'other' } }));
    expect((await refusal(approval))?.message).toContain('its title or content is not what was requested');
    await log(approval, APPROVED);
    await expect(check(approval, 'approved')).resolves.toBeDefined();
  });

  it('gets the decision that the log has, or none', async () => {
    const at = AT.toISOString();
    for (const decision of [undefined, { by: 'person:bob', at }]) {
      const approval = await insert({ state: 'approved', decided_by: 'person:ada', decided_at: at });
      await closeForged(store.database, new ForgedApproval(approval, 'rejected', 'x', decision), AT);
      expect(await read(approval.id)).toMatchObject({
        state: 'rejected',
        decided_by: decision?.by ?? null,
        decided_at: decision?.at ?? null,
      });
    }
  });

  it('that was changed since it was read is left as it is', async () => {
    const approval = await insert({ version: 3 });
    await closeForged(store.database, new ForgedApproval({ ...approval, version: 2 }, undefined, 'x'), AT);
    expect(await read(approval.id)).toMatchObject({ state: 'pending', version: 3 });
  });
});
