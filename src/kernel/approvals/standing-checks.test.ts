import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { AGENT, OTHER, openTestKernel, PERSON } from '../../../test/support/kernel.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { StandingDraft } from '../../contract/standing.ts';
import type { Tool } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { standingDigest } from '../../lib/standing-digest.ts';
import { type EntryInput, prepareEntry } from '../log/entry.ts';
import { writeWithEvidence } from '../log/write.ts';
import { makeBound, makeTool } from './present.fixture.ts';
import { countUse, SIGNED_EACH_TIME, StandingApprovals } from './standing.ts';

const START = new Date('2026-03-01T10:00:00.000Z');
const DAY = 86_400_000;
const later = (ms: number): Date => new Date(START.getTime() + ms);
const NOTE = { text: 'note 1' };

const draft = (more: Partial<StandingDraft> = {}): StandingDraft => ({
  agent: 'agent:local',
  tool: 'send_note',
  predicates: [{ arg: 'text', op: 'starts_with', text: 'note' }],
  until: later(DAY).toISOString(),
  uses: 2,
  ...more,
});

describe('standing approvals', () => {
  let store: TestStore;
  let now: Date;
  let signers: number;
  let asked: JsonObject[];
  let tools: Map<string, BoundTool>;
  let standing: StandingApprovals;
  const tool = makeTool({ json: { type: 'object' } });
  const bound = makeBound(tool);
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    now = START;
    signers = 0;
    asked = [];
    tools = new Map([['send_note', bound]]);
    standing = new StandingApprovals({
      database: store.database,
      resolve: async (name) => tools.get(name),
      signersFor: async ({ args }) => {
        asked.push(args);
        return signers;
      },
      now: () => now,
    });
  });
  afterEach(() => store.close());

  const rows = () => store.database.db.selectFrom('standing_approvals').selectAll().orderBy('id').execute();
  const set = (change: object) => store.database.db.updateTable('standing_approvals').set(change).execute();
  const find = (more: Partial<Tool> = {}, args: JsonObject = NOTE, who = AGENT) =>
    standing.find(makeBound(Object.keys(more).length === 0 ? tool : { ...tool, ...more }), args, who);
  const states = async () => (await standing.list()).map(({ state }) => state);

  it('are stored as the person decided them, and shown with their state', async () => {
    const added = await standing.add(draft(), PERSON);
    const expected = {
      id: added.id,
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      agent: 'agent:local',
      tool: 'send_note',
      toolkit: 'notes',
      definition: expect.stringMatching(/^[0-9a-f]{64}$/),
      predicates: [{ arg: 'text', op: 'starts_with', text: 'note' }],
      until: later(DAY).toISOString(),
      uses: 2,
      used: 0,
      created_at: START.toISOString(),
      created_by: 'person:ada',
      revoked_at: null,
      revoked_by: null,
      state: 'active',
      sentence: expect.stringContaining('Allow any client without a token to call send_note'),
    };
    expect(added).toEqual(expected);
    expect(await standing.list()).toEqual([expected]);
    const [entry] = await store.database.db.selectFrom('audit_log').select('body').execute();
    expect(JSON.parse(entry?.body ?? '{}')).toMatchObject({
      kind: 'config',
      principal: 'person:ada',
      approval: { uuid: added.uuid, approver: 'person:ada' },
      extra: { standing_added: added.uuid, agent: 'agent:local', until: added.until, uses: 2 },
    });
    await standing.add(draft({ uses: 5 }), PERSON);
    expect((await standing.list()).map(({ uses }) => uses)).toEqual([5, 2]);
  });

  it('are active until they are revoked, expire, are used up or their tool changes', async () => {
    const { id } = await standing.add(draft(), PERSON);
    await set({ used: 1 });
    now = later(DAY - 1);
    expect(await states()).toEqual(['active']);
    expect(await find()).toMatchObject({ id });
    tools.clear();
    expect(await states()).toEqual(['changed']);
    tools.set('send_note', makeBound(makeTool({ json: { type: 'object', title: 'other' } })));
    expect(await states()).toEqual(['changed']);
    await set({ used: 2 });
    expect(await states()).toEqual(['used_up']);
    expect(await find()).toBeUndefined();
    await set({ used: 0 });
    now = later(DAY);
    expect(await states()).toEqual(['expired']);
    expect(await find()).toBeUndefined();
    expect(await standing.revoke(id, PERSON)).toBe(true);
    expect(await states()).toEqual(['revoked']);
    expect(await standing.list()).toMatchObject([
      { revoked_at: later(DAY).toISOString(), revoked_by: 'person:ada' },
    ]);
  });

  it('answer only for the tool as the person saw it', async () => {
    const { id, uuid, definition } = await standing.add(draft(), PERSON);
    expect(await find()).toEqual({ id, uuid, definition });
    expect(
      await find({ input: { ...tool.input, json: { type: 'object', required: ['text'] } } }),
    ).toBeUndefined();
    expect(await find({ definition: { description: 'other' } })).toBeUndefined();
    expect(await find({ name: 'other' })).toBeUndefined();
  });

  it('answer no call that always asks, whatever was decided before', async () => {
    await standing.add(draft(), PERSON);
    expect(await find({ summary: 'Same tool, made again.' })).toBeDefined();
    expect(await find({ needsPermit: true })).toBeUndefined();
    expect(await find({ composite: true })).toBeUndefined();
    expect(await find({ movesMoney: ({ text }) => text === 'note 1' })).toBeUndefined();
    expect(await find({ movesMoney: ({ text }) => text === 'note 2' })).toBeDefined();
  });

  it('answer no call that must be signed, nor one that they do not cover', async () => {
    await standing.add(draft(), PERSON);
    asked = [];
    expect(await find({}, { text: 'other' })).toBeUndefined();
    expect(asked).toEqual([]);
    expect(await find({}, NOTE, OTHER)).toBeUndefined();
    signers = 1;
    expect(await find()).toBeUndefined();
    expect(asked).toEqual([NOTE]);
  });

  it('are refused for calls that must be signed', async () => {
    signers = 1;
    const predicates: StandingDraft['predicates'] = [
      { arg: 'to', op: 'equals', value: 'ada' },
      { arg: 'text', op: 'any' },
    ];
    await expect(standing.add(draft({ predicates }), PERSON)).rejects.toMatchObject({
      code: 'not_allowed',
      message: SIGNED_EACH_TIME,
      detail: { tool: 'send_note' },
    });
    expect(asked).toStrictEqual([{ to: 'ada' }]);
    expect(await rows()).toEqual([]);
  });

  it('are refused for what is not an agent, a missing tool, two conditions, and times out of bounds', async () => {
    const refused = (more: Partial<StandingDraft>) =>
      expect(standing.add(draft(more), PERSON), JSON.stringify(more)).rejects;
    for (const agent of ['person:ada', 'local', 'agent:a\u0007b'])
      await refused({ agent }).toThrow('agent is not the name of an agent.');
    await refused({ tool: 'missing' }).toMatchObject({ code: 'not_found' });
    const any = { arg: 'text', op: 'any' } as const;
    await refused({ predicates: [{ ...any, arg: 'to' }, any, any] }).toMatchObject({
      code: 'invalid_input',
      message: 'Invalid standing approval: text has two conditions.',
    });
    await refused({ until: START.toISOString() }).toThrow('until is in the past.');
    await refused({ until: later(30 * DAY + 1).toISOString() }).toThrow('more than 30 days ahead');
    expect(await rows()).toEqual([]);
    await standing.add(draft({ until: later(1).toISOString() }), PERSON);
    await standing.add(draft({ until: later(30 * DAY).toISOString() }), PERSON);
    expect(await rows()).toHaveLength(2);
  });

  it('are refused where a condition means a call that always asks', async () => {
    tools.set('send_note', makeBound({ ...tool, movesMoney: ({ amount }) => amount === 5 }));
    const equals = (value: number): StandingDraft =>
      draft({ predicates: [{ arg: 'amount', op: 'equals', value }] });
    await expect(standing.add(equals(5), PERSON)).rejects.toMatchObject({
      code: 'not_allowed',
      message: 'Calls that move money require approval each time.',
      detail: { tool: 'send_note' },
    });
    await expect(standing.test(equals(5))).rejects.toMatchObject({ code: 'not_allowed' });
    await standing.add(equals(0), PERSON);
  });

  it('are given and revoked by people alone', async () => {
    const { id } = await standing.add(draft(), PERSON);
    const denied = { code: 'policy_denied_hard_rule' };
    await expect(standing.add(draft(), AGENT)).rejects.toMatchObject(denied);
    await expect(standing.revoke(id, AGENT)).rejects.toMatchObject(denied);
    expect(await states()).toEqual(['active']);
    expect(await standing.revoke(id + 1, PERSON)).toBe(false);
  });

  it('count a use only while they are valid and as they were found', async () => {
    const { id, uuid, definition } = await standing.add(draft(), PERSON);
    const use = { id, uuid, definition };
    const count = (one = use, at = START) =>
      writeWithEvidence(store.database, ({ trx }) => countUse(trx, one, at));
    expect(await count({ ...use, uuid: randomUUID() })).toBe(false);
    expect(await count({ ...use, definition: 'other' })).toBe(false);
    expect(await count({ ...use, id: id + 1 })).toBe(false);
    expect(await count(use, later(DAY))).toBe(false);
    expect([await count(), await count(), await count()]).toEqual([true, true, false]);
    expect(await rows()).toMatchObject([{ used: 2 }]);
    await set({ used: 0, revoked_at: START.toISOString() });
    expect(await count()).toBe(false);
  });

  describe('whose rows were written past the log', () => {
    /** A row with this entry about it, as someone with the database could write it. */
    const forge = async (
      entry: (digest: string, uuid: string) => Partial<EntryInput>,
      agent = 'agent:local',
    ) => {
      await standing.add(draft(), PERSON);
      const [row] = await rows();
      if (!row) throw new Error('no row');
      const forged = { ...row, id: row.id + 1, uuid: randomUUID(), agent };
      await store.database.db.deleteFrom('standing_approvals').execute();
      await writeWithEvidence(store.database, async ({ trx, append }) => {
        await trx.insertInto('standing_approvals').values(forged).execute();
        const digest = standingDigest(forged);
        append(
          prepareEntry({
            kind: 'config',
            at: START.toISOString(),
            principal: 'person:ada',
            approval: { uuid: forged.uuid, digest },
            extra: { standing_added: forged.uuid },
            ...entry(digest, forged.uuid),
          }),
        );
      });
      return forged.id;
    };

    it('answer only where the log has the decision of a person', async () => {
      const id = await forge(() => ({}));
      expect(await find()).toMatchObject({ id });
    });

    it.each<[string, (digest: string, uuid: string) => Partial<EntryInput>]>([
      ['of an agent', () => ({ principal: 'agent:person:' })],
      ['of no one', () => ({ principal: undefined }) as Partial<EntryInput>],
      ['of another kind', () => ({ kind: 'approval' })],
      ['about other conditions', (_, uuid) => ({ approval: { uuid, digest: 'other' } })],
      ['that says nothing', () => ({ extra: undefined }) as Partial<EntryInput>],
      ['that adds another', () => ({ extra: { standing_added: 'other' } })],
      ['about another', (digest) => ({ approval: { uuid: randomUUID(), digest } })],
    ])('do not answer by an entry %s', async (_words, entry) => {
      await forge(entry);
      expect(await find()).toBeUndefined();
    });

    it('answer for agents alone', async () => {
      await forge(() => ({}), 'person:ada');
      expect(await find({}, NOTE, PERSON)).toBeUndefined();
    });

    it('do not answer after they were revoked, and leave others that do', async () => {
      const first = await standing.add(draft(), PERSON);
      await standing.revoke(first.id, PERSON);
      await set({ revoked_at: null, revoked_by: null });
      expect(await find()).toBeUndefined();
      const second = await standing.add(draft(), PERSON);
      expect(await find()).toMatchObject({ id: second.id });
    });

    it('do not answer when one of their entries was changed', async () => {
      const { id } = await standing.add(draft(), PERSON);
      await standing.revoke(id, PERSON);
      await set({ revoked_at: null, revoked_by: null });
      // Without its word the revocation would be no more than another entry.
      const { db } = store.database;
      const entries = await db.selectFrom('audit_log').select(['seq', 'body']).orderBy('seq').execute();
      const last = entries.at(-1);
      const body = last?.body.replace('standing_revoked', 'standing_praised') ?? '';
      await db
        .updateTable('audit_log')
        .set({ body })
        .where('seq', '=', last?.seq ?? 0)
        .execute();
      expect(await find()).toBeUndefined();
    });
  });
});

describe('a test of a standing approval', () => {
  it('goes through the decided calls of this agent and tool', async () => {
    const store = await openTestStore('sqlite');
    try {
      const test = await openTestKernel(store.database, store.dataDir, {
        policy: { require_approval_for: ['ledger_write', 'ledger_write_blind'] },
        now: () => START,
      });
      const ask = async (text: string, name = 'ledger_write', principal = AGENT) => {
        const { outcome } = await test.call(name, { text }, { principal });
        if (outcome.status !== 'routed') throw new Error(outcome.status);
        return outcome.approvalId;
      };
      const first = await ask('note a');
      await test.kernel.approvals.approve(first, PERSON);
      const second = await ask('note b');
      await test.kernel.approvals.reject(second, PERSON);
      await test.kernel.approvals.approve(await ask('note c', 'ledger_write', OTHER), PERSON);
      await test.kernel.approvals.approve(await ask('note d', 'ledger_write_blind'), PERSON);
      await ask('note e');
      const [third, fourth] = [await ask('note f'), await ask('note g')];
      for (const id of [third, fourth]) await test.kernel.approvals.approve(id, PERSON);
      const known = await test.inventory.resolve('ledger_write');
      if (!known) throw new Error('no tool');
      const standing = new StandingApprovals({
        database: store.database,
        resolve: async () => ({
          ...known,
          tool: { ...known.tool, movesMoney: ({ text }) => text === 'note a' },
        }),
        signersFor: async () => 0,
        now: () => START,
      });
      expect(await standing.test(draft({ tool: 'ledger_write' }))).toEqual({
        of: 4,
        rejected: 1,
        answered: [
          expect.objectContaining({ approval_id: fourth, state: 'done', why: null }),
          expect.objectContaining({ approval_id: third, state: 'done', why: null }),
          {
            approval_id: second,
            title: 'Write “note b” to the ledger (local)',
            gist: 'note b',
            state: 'rejected',
            created_at: START.toISOString(),
            why: null,
          },
        ],
        asked: [
          expect.objectContaining({
            approval_id: first,
            state: 'done',
            why: 'Calls that move money require approval each time.',
          }),
        ],
      });
      const approval = await test.kernel.approvals.get(first);
      if (!approval) throw new Error('no approval');
      expect(standing.draftFrom(approval)).toEqual({
        agent: 'agent:local',
        tool: 'ledger_write',
        predicates: [{ arg: 'text', op: 'equals', value: 'note a' }],
        until: later(7 * DAY).toISOString(),
        uses: 10,
      });
    } finally {
      await store.close();
    }
  });
});
