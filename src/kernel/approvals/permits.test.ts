import type { Updateable } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import { LOCAL_AGENT, type Principal } from '../../contract/principal.ts';
import type { Schema } from '../../contract/schema.ts';
import { toolNamed } from '../call/steps.fixture.ts';
import type { ApprovalsTable } from '../store/tables.ts';
import { ADA, minutesLater, openQueue, type TestQueue } from './approvals.fixture.ts';

const OTHER: Principal = { kind: 'agent', id: 'other' };

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore('sqlite');
});
afterAll(() => store.close());
beforeEach(() => store.database.db.deleteFrom('approvals').execute());

const set = ({ id }: Approval, columns: Updateable<ApprovalsTable>) =>
  store.database.db.updateTable('approvals').set(columns).where('id', '=', id).execute();
const find = ({ queue, bound }: TestQueue, args: JsonObject, principal = LOCAL_AGENT) =>
  queue.findPermit({ bound, args, principal });
const propose = (test: TestQueue, more = {}) =>
  test.queue.propose({
    tool: test.bound.tool.name,
    args: { text: 'line' },
    requester: LOCAL_AGENT,
    reason: 'please',
    kind: 'permit',
    ...more,
  });

describe('a permit named by the call', () => {
  let lines = 3;
  let test: TestQueue;
  let permit: Approval;
  const use = (more: JsonObject = {}, principal = LOCAL_AGENT) =>
    find(test, { text: 'line', approval_id: permit.uuid, ...more }, principal);
  beforeEach(async () => {
    lines = 3;
    const tool = toolNamed('ledger_permitted', { bind: async () => ({ lines }) });
    test = openQueue(store.database, { tool });
    permit = await propose(test);
    await set(permit, { state: 'approved', decided_by: 'person:ada' });
  });

  it('lets its call through, by its UUID or number, tried dry or not', async () => {
    for (const approval_id of [permit.uuid, permit.id, String(permit.id)])
      expect(await use({ approval_id })).toMatchObject({ id: permit.id, state: 'approved' });
    expect(await use({ dry_run: true })).toMatchObject({ id: permit.id });
  });

  it('lets a person use that of an agent, and no other agent', async () => {
    expect(await use({}, ADA)).toMatchObject({ id: permit.id });
    await expect(use({}, OTHER)).rejects.toMatchObject({
      code: 'approval_invalid',
      message: `Approval ${permit.id} belongs to another agent. Request your own.`,
      detail: { approval_id: permit.id, state: 'approved' },
    });
  });

  it.each<[JsonObject[string]]>([['none'], [0], [null], [{ id: 1 }]])(
    'is not found as %j',
    async (approval_id) => {
      await expect(use({ approval_id })).rejects.toMatchObject({
        code: 'approval_invalid',
        message: `Approval ${String(approval_id)} not found.`,
      });
    },
  );

  it('is not found by a list that contains its UUID', async () => {
    await expect(use({ approval_id: [permit.uuid] })).rejects.toThrow('not found');
  });

  it('is refused where it is a call, or for another tool', async () => {
    for (const columns of [{ kind: 'call' }, { kind: 'permit', tool: 'ledger_write' }]) {
      await set(permit, columns);
      await expect(use()).rejects.toThrow(`Approval ${permit.id} is not a permit for ledger_permitted.`);
    }
  });

  it('is refused for other arguments, or when what it is bound to has changed', async () => {
    await expect(use({ text: 'another' })).rejects.toThrow('is for different arguments');
    lines = 4;
    await expect(use()).rejects.toThrow('is for different arguments');
  });

  it('is refused while a person has not decided', async () => {
    await set(permit, { state: 'pending' });
    await expect(use()).rejects.toMatchObject({
      code: 'approval_required',
      message: expect.stringContaining(`Approval ${permit.id} is still pending.`),
    });
  });

  it.each([
    ['executing', 'Do not ask again'],
    ['done', 'the call succeeded'],
    ['indeterminate', 'its outcome is unknown'],
    ['rejected', 'A person rejected it'],
    ['failed', 'Request a new one'],
  ])('is refused when it is %s, with a hint', async (state, hint) => {
    await set(permit, { state });
    await expect(use()).rejects.toMatchObject({
      code: 'approval_invalid',
      message: `Approval ${permit.id} cannot be used: it is ${state}.`,
      hint: expect.stringContaining(hint),
      detail: { approval_id: permit.id, state },
    });
  });

  it('is refused from the moment at which it expires', async () => {
    test.setClock(minutesLater(59));
    await use();
    test.setClock(minutesLater(60));
    await expect(use()).rejects.toThrow(`Approval ${permit.id} has expired.`);
  });

  it('is found without its name, too', async () => {
    expect(await find(test, { text: 'line' })).toMatchObject({ id: permit.id });
  });
});

describe('a permit that the call does not name', () => {
  let test: TestQueue;
  let permit: Approval;
  beforeEach(async () => {
    test = openQueue(store.database);
    permit = await propose(test);
    await set(permit, { state: 'approved' });
  });
  const use = (args: JsonObject = { text: 'line' }, principal = LOCAL_AGENT) => find(test, args, principal);

  it('lets exactly its call through, for its requester alone', async () => {
    expect(await use()).toMatchObject({ id: permit.id });
    expect(await use({ text: 'another' })).toBeUndefined();
    expect(await use({ text: 'line' }, OTHER)).toBeUndefined();
    expect(await use({ text: 'line' }, ADA)).toBeUndefined();
  });

  it.each<[string, Updateable<ApprovalsTable>]>([
    ['is pending', { state: 'pending' }],
    ['was used', { state: 'done' }],
    ['is a call', { kind: 'call' }],
  ])('is not found when it %s', async (_what, columns) => {
    await set(permit, columns);
    expect(await use()).toBeUndefined();
  });

  it('is not found once it has expired', async () => {
    test.setClock(minutesLater(60));
    expect(await use()).toBeUndefined();
  });

  it('is not found by an argument of that name where the tool needs no permit', async () => {
    const args = { text: 'another', approval_id: permit.uuid };
    expect(await use(args)).toBeUndefined();
  });

  it('covers every argument of a tool that declares none to steer it', async () => {
    const input: Schema = { json: {}, parse: (value) => ({ ok: true, value }) };
    const tool = toolNamed('ledger_write', { governanceArgs: undefined, input });
    const remote = openQueue(store.database, { tool });
    const plain = await propose(remote);
    expect(plain.args).toEqual({ text: 'line' });
    await set(plain, { state: 'approved' });
    const others: readonly JsonObject[] = [
      { dry_run: false },
      { dry_run: true },
      { approval_id: '--force' },
      { approval_id: plain.uuid },
    ];
    for (const more of others)
      expect(await find(remote, { text: 'line', ...more }), JSON.stringify(more)).toBeUndefined();
    const forced = { text: 'line', approval_id: '--force', dry_run: false };
    const other = await propose(remote, { args: forced });
    expect(other.args).toEqual(forced);
    await set(other, { state: 'approved' });
    expect(await find(remote, forced)).toMatchObject({ id: other.id });
    expect(await find(remote, { text: 'line' })).toMatchObject({ id: plain.id });
  });
});
