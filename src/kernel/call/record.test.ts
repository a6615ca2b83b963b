import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import type { Tool } from '../../contract/tool.ts';
import { answerHash } from '../log/rows/key-row.ts';
import type { Ports } from '../ports.ts';
import { admitChange } from './admit.ts';
import type { CallState } from './call.ts';
import { recordOutcome } from './record.ts';
import { ALLOW, DONE, openSteps, rawCall, type StepStore, toolNamed, validCall } from './steps.fixture.ts';

const NOW = new Date('2026-03-02T10:30:00Z');
const write = toolNamed('ledger_write');
const read = toolNamed('ledger_read');
const fault = new ToolError('unavailable', 'Closed.');
const FAILED: Outcome = { status: 'failed', fault };
const UNKNOWN: Outcome = { status: 'indeterminate', fault: new ToolError('indeterminate', 'Unknown.') };
const ARTIFACT = { id: 'sha256:a', name: 'a.txt', mediaType: 'text/plain', size: 1 };

let steps: StepStore;
let ports: Ports;
const db = () => steps.store.database.db;

beforeAll(async () => {
  steps = await openSteps();
  ports = { ...steps.ports, now: () => NOW };
});
afterAll(() => steps.store.close());
beforeEach(async () => {
  await ports.recorder.flush();
  for (const table of ['calls', 'call_artifacts', 'idempotency'] as const)
    await db().deleteFrom(table).execute();
});

const record = (call: CallState, outcome: Outcome) => recordOutcome(ports)(call, async () => outcome);
/** A change that runs while `during` happens and then has this outcome. */
const change = async (
  outcome: Outcome,
  more: Partial<CallState> = {},
  during: (call: CallState) => Promise<unknown> = async () => {},
) => {
  const call = Object.assign(await validCall(write, { text: 'a' }), {
    decision: ALLOW,
    policyStamp: 'none',
    ...more,
  });
  const admitted = () =>
    admitChange(ports)(call, async () => {
      await during(call);
      return outcome;
    });
  return { call, answer: await recordOutcome(ports)(call, admitted) };
};
const rowOf = (call: CallState) => steps.rowOf(call);
const entriesOf = (call: CallState) => steps.entriesOf(call);
const payloadOf = async ({ id }: CallState, kind: 'args' | 'result') => {
  await ports.recorder.flush();
  const row = await db()
    .selectFrom('audit_payloads')
    .select('body')
    .where('call_id', '=', id)
    .where('kind', '=', kind)
    .executeTakeFirst();
  return row?.body == null ? null : JSON.parse(row.body);
};
const keys = async () => {
  const rows = await db()
    .selectFrom('idempotency')
    .select(['scope_key', 'call_id', 'state', 'outcome'])
    .orderBy('scope_key')
    .execute();
  return rows;
};
const readCall = async (more: Partial<Tool> = {}, args: object = {}) => validCall({ ...read, ...more }, args);

describe('a finished change', () => {
  it('leaves a row that no process holds any more, with the hash that the reply has', async () => {
    const { call, answer } = await change(FAILED);
    expect(answer).toBe(FAILED);
    const row = await rowOf(call);
    expect(row).toMatchObject({
      status: 'failed',
      code: 'unavailable',
      run_id: null,
      finished_at: NOW.toISOString(),
      evidence_hash: call.evidenceHash,
      holder_host: null,
      holder_pid: null,
      lease_until: null,
    });
    expect(row?.latency_ms).toBeGreaterThan(0);
    expect(row?.latency_ms).toBeLessThan(120_000);
    expect(await payloadOf(call, 'result')).toMatchObject({ status: 'failed', code: 'unavailable' });
  });

  it('belongs to the run that it opened, unless it belongs to one', async () => {
    const opened = await change(DONE, { notes: { run_id: 'opened' } });
    expect(await rowOf(opened.call)).toMatchObject({ run_id: 'opened' });
    expect(await entriesOf(opened.call)).toMatchObject([{}, { run: 'opened' }]);
    expect(opened.call.runId).toBe('opened');
    const known = await change(DONE, { notes: { run_id: 'opened' }, runId: 'known' });
    expect(await rowOf(known.call)).toMatchObject({ run_id: 'known' });
    const odd = await change(DONE, { notes: { run_id: 7 } });
    expect(await rowOf(odd.call)).toMatchObject({ run_id: null });
  });

  it('links its artifacts and names them in the entry', async () => {
    const { call } = await change(DONE, { artifacts: [ARTIFACT] } as Partial<CallState>);
    const links = await db().selectFrom('call_artifacts').selectAll().execute();
    expect(links).toEqual([{ call_id: call.id, artifact_id: 'sha256:a', name: 'a.txt' }]);
    const [, outcome] = await entriesOf(call);
    expect(outcome).toMatchObject({ artifacts: [ARTIFACT] });
    const without = await change(DONE);
    expect((await entriesOf(without.call))[1]).not.toHaveProperty('artifacts');
  });

  it('says in its entry that its count was given back, and what the tool added', async () => {
    const extraOf = async (outcome: Outcome, evidence?: JsonObject) =>
      (await entriesOf((await change(outcome, { evidence })).call))[1]?.extra;
    expect(await extraOf(DONE)).toBeUndefined();
    expect(await extraOf(DONE, { tests: 3 })).toEqual({ tests: 3 });
    expect(await extraOf(FAILED, { tests: 3 })).toEqual({ tests: 3, refunded: true });
    expect(await extraOf(UNKNOWN)).toBeUndefined();
    const partial = new ToolError('unavailable', 'Closed.', { effect: 'partial' });
    expect(await extraOf({ status: 'failed', fault: partial })).toBeUndefined();
  });

  it('names in its entry what a replay returns, where it succeeded under a key', async () => {
    const extraOf = async (outcome: Outcome) =>
      (await entriesOf((await change(outcome, { replayKey: 'k' })).call))[1]?.extra;
    expect(await extraOf(UNKNOWN)).toBeUndefined();
    await db().deleteFrom('idempotency').execute();
    const [extra, [key]] = [await extraOf(DONE), await keys()];
    const { salt } = await db()
      .selectFrom('audit_payloads')
      .select('salt')
      .where('call_id', '=', key?.call_id ?? '')
      .where('kind', '=', 'result')
      .executeTakeFirstOrThrow();
    expect(extra).toEqual({ replay_hash: answerHash(salt, key?.outcome ?? '') });
  });

  it('touches no key but its own', async () => {
    const [mine, other] = [{ replayKey: 'k' }, { replayKey: 'other' }];
    const { call: first } = await change(UNKNOWN, other);
    for (const [outcome, state] of [
      [DONE, 'ok'],
      [UNKNOWN, 'indeterminate'],
      [FAILED, undefined],
    ] as const) {
      const { call } = await change(outcome, mine);
      const left = (await keys()).filter(({ scope_key }) => scope_key === 'k');
      expect(left.map(({ call_id, state: now }) => [call_id, now])).toEqual(state ? [[call.id, state]] : []);
      await db().deleteFrom('idempotency').where('scope_key', '=', 'k').execute();
    }
    expect(await keys()).toMatchObject([{ scope_key: 'other', call_id: first.id, state: 'indeterminate' }]);
  });

  it('keeps its answer for a replay', async () => {
    await change(DONE, { replayKey: 'k' });
    const [key] = await keys();
    expect(JSON.parse(key?.outcome ?? '')).toEqual({ status: 'ok', data: { done: true }, notes: {} });
  });
});

describe('a change that another process took for dead', () => {
  /** What recovery does with a call whose process stopped. */
  const presumeDead = async (call: CallState, status = 'indeterminate') => {
    await db()
      .updateTable('calls')
      .set({ status: status as 'indeterminate', finished_at: 'then', code: 'indeterminate' })
      .where('call_id', '=', call.id)
      .execute();
  };
  const freeKey = () => db().deleteFrom('idempotency').execute();

  it('is settled by what really happened, with an entry that says it came late', async () => {
    const { call, answer } = await change(FAILED, {}, presumeDead);
    expect(answer).toBe(FAILED);
    expect(await rowOf(call)).toMatchObject({
      status: 'failed',
      code: 'unavailable',
      finished_at: NOW.toISOString(),
    });
    expect(await entriesOf(call)).toMatchObject([
      { kind: 'intent' },
      {
        kind: 'settled',
        at: NOW.toISOString(),
        status: 'failed',
        code: 'unavailable',
        extra: { late: true },
      },
    ]);
    const done = await change(DONE, {}, presumeDead);
    expect(await rowOf(done.call)).toMatchObject({ status: 'ok', code: null });
    expect((await entriesOf(done.call))[1]).not.toHaveProperty('code');
  });

  it('takes its key back where that was freed, and only for a success', async () => {
    const dead = async (call: CallState) => {
      await presumeDead(call);
      await freeKey();
    };
    await change(FAILED, { replayKey: 'k' }, dead);
    await change(UNKNOWN, { replayKey: 'k' }, dead);
    expect(await keys()).toEqual([]);
    const { call } = await change(DONE, { replayKey: 'k' }, dead);
    expect(await keys()).toMatchObject([{ scope_key: 'k', call_id: call.id, state: 'ok' }]);
    expect(JSON.parse((await keys())[0]?.outcome ?? '')).toMatchObject({ data: { done: true } });
    await freeKey();
    await change(DONE, {}, dead);
    expect(await keys()).toEqual([]);
  });

  it('leaves its key to the call that has it since', async () => {
    await change(DONE, { replayKey: 'k' }, async (call) => {
      await presumeDead(call);
      await db().updateTable('idempotency').set({ call_id: 'other', state: 'running' }).execute();
    });
    expect(await keys()).toMatchObject([{ call_id: 'other', state: 'running', outcome: null }]);
  });

  it('ends the doubt about its key', async () => {
    const { call } = await change(DONE, { replayKey: 'k' }, async (one) => {
      await presumeDead(one);
      await db().updateTable('idempotency').set({ state: 'indeterminate' }).execute();
    });
    expect(await keys()).toMatchObject([{ call_id: call.id, state: 'ok' }]);
  });
});

describe('a call that is not a change', () => {
  const ROUTED: Outcome = {
    status: 'routed',
    approvalId: 7,
    approvalUuid: 'u',
    reason: 'r',
    rule: 'rule:ask',
  };

  it.each([
    ['refusal', { status: 'refused', rule: 'rule:no', fault }, 'rule:no'],
    ['routed', ROUTED, 'rule:ask'],
    ['dry_run', { status: 'dry_run', data: null, notes: {}, rule: 'rule:dry' }, 'default'],
    ['read', DONE, 'default'],
  ] as const)('is recorded as %s, under the rule that decided', async (kind, outcome, rule) => {
    const call = Object.assign(await readCall(), { decision: ALLOW });
    await record(call, outcome);
    expect(await entriesOf(call)).toMatchObject([{ kind, status: outcome.status }]);
    expect(await rowOf(call)).toMatchObject({
      status: outcome.status,
      rule,
      evidence_hash: call.evidenceHash,
      approval_id: outcome.status === 'routed' ? 7 : null,
      finished_at: NOW.toISOString(),
    });
  });

  it('of another effect is recorded as a call, without a rule where none was asked', async () => {
    const call = await readCall({ effect: 'propose' });
    await record(call, FAILED);
    expect(await entriesOf(call)).toMatchObject([{ kind: 'call', code: 'unavailable' }]);
    const row = await rowOf(call);
    expect(row).toMatchObject({ rule: null, code: 'unavailable' });
    expect(row?.latency_ms).toBeLessThan(120_000);
  });

  it('that waits for a person is durable before it is answered', async () => {
    await record(await readCall(), DONE);
    const durable = async () => (await db().selectFrom('calls').select('call_id').execute()).length;
    expect(await durable()).toBe(0);
    await record(await readCall(), ROUTED);
    expect(await durable()).toBe(2);
  });

  it('keeps its result as evidence only where it failed or the tool says so', async () => {
    const kept = async (outcome: Outcome, more: Partial<Tool> = {}) => {
      const call = await readCall(more);
      await record(call, outcome);
      return payloadOf(call, 'result');
    };
    expect(await kept(DONE)).toBeNull();
    expect(await kept(DONE, { keepsResult: true })).toMatchObject({ data: { done: true } });
    expect(await kept(FAILED)).toMatchObject({ status: 'failed' });
  });

  it('keeps arguments that were not valid where they are well-formed data', async () => {
    const kept = async (args: unknown) => {
      const call = rawCall(read, args);
      await record(call, FAILED);
      return payloadOf(call, 'args');
    };
    expect(await kept({ surprise: 1 })).toEqual({ surprise: 1 });
    for (const args of [null, 'text', ['list'], undefined, { text: '\ud800' }])
      expect(await kept(args)).toEqual({});
    const valid = await readCall({}, { echo: 'hi' });
    await record(valid, FAILED);
    expect(await payloadOf(valid, 'args')).toEqual({ echo: 'hi' });
    const completed = Object.assign(await readCall(), { args: { echo: 'completed' } });
    await record(completed, DONE);
    expect(await payloadOf(completed, 'args')).toEqual({ echo: 'completed' });
  });

  it('names the approval that it used, and is durable before it is answered', async () => {
    const call = Object.assign(await readCall(), {
      grant: { id: 9, requester: { kind: 'agent', id: 'local' } } as Approval,
    });
    await record(call, DONE);
    const row = await db().selectFrom('calls').select('approval_id').executeTakeFirst();
    expect(row).toEqual({ approval_id: 9 });
  });
});
