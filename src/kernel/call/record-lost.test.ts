import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Tool } from '../../contract/tool.ts';
import { verifyLog } from '../log/verify/verify.ts';
import type { Ports } from '../ports.ts';
import { admitChange } from './admit.ts';
import type { CallState } from './call.ts';
import { recordOutcome } from './record.ts';
import { ALLOW, DONE, openSteps, type StepStore, toolNamed, validCall } from './steps.fixture.ts';

const write = toolNamed('ledger_write');
const LOST = Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
const fault = new ToolError('unavailable', 'Closed.');
const FAILED: Outcome = { status: 'failed', fault };
const UNKNOWN: Outcome = { status: 'indeterminate', fault: new ToolError('indeterminate', 'Unknown.') };

let steps: StepStore;
let ports: Ports;
/** Outcomes that are to be written later. */
let later: Map<string, () => Promise<void>>;
beforeEach(async () => {
  steps = await openSteps();
  later = new Map();
  const unrecorded = { add: (id: string, work: () => Promise<void>) => void later.set(id, work) };
  ports = { ...steps.ports, unrecorded: unrecorded as never };
});
afterEach(() => steps.store.close());

const record = (call: CallState, outcome: Outcome) => recordOutcome(ports)(call, async () => outcome);
const rowOf = (call: CallState) => steps.rowOf(call);
const entriesOf = (call: CallState) => steps.entriesOf(call);
const readCall = (more: Partial<Tool> = {}) => validCall(toolNamed('ledger_read', more), {});

describe('an outcome that cannot be written', () => {
  /** The next write is lost before it reaches the database. */
  const loseNext = (): void => {
    const { database } = ports;
    let isLost = true;
    ports = {
      ...ports,
      database: {
        ...database,
        write(work) {
          if (!isLost) return database.write(work);
          isLost = false;
          return Promise.reject(LOST);
        },
      },
    };
  };
  const loseOutcome = async (outcome: Outcome, more: Partial<CallState> = {}) => {
    const call = Object.assign(await validCall(write, { text: 'a' }), {
      decision: ALLOW,
      policyStamp: 'none',
      ...more,
    });
    await admitChange(ports)(call, async () => DONE);
    loseNext();
    return { call, answer: await record(call, outcome) };
  };

  it('makes the answer to a change unknown, and is written later', async () => {
    const { call, answer } = await loseOutcome(DONE);
    expect(answer).toMatchObject({
      status: 'indeterminate',
      fault: { code: 'indeterminate', detail: { call_id: call.id }, cause: LOST },
    });
    expect(await rowOf(call)).toMatchObject({ status: 'running' });
    await later.get(call.id)?.();
    expect(await rowOf(call)).toMatchObject({ status: 'ok' });
    expect((await entriesOf(call)).map(({ kind }) => kind)).toEqual(['intent', 'outcome']);
    // Once more finds it written.
    await later.get(call.id)?.();
    expect(await entriesOf(call)).toHaveLength(2);
    expect((await verifyLog(steps.store.database, { rows: true })).problems).toEqual([]);
  });

  it.each<[string, Outcome]>([
    ['ran', DONE],
    ['may have run', FAILED],
    ['may have run', UNKNOWN],
  ])('says that the change %s (%o)', async (ran, outcome) => {
    const { answer } = await loseOutcome(outcome);
    expect('fault' in answer && answer.fault.message).toContain(`The change ${ran}, but its outcome`);
  });

  it('adds nothing to a doubt that was recorded since, and ends one that it can', async () => {
    for (const [outcome, kinds] of [
      [UNKNOWN, ['intent']],
      [DONE, ['intent', 'settled']],
    ] as const) {
      const { call } = await loseOutcome(outcome);
      await steps.store.database.db
        .updateTable('calls')
        .set({ status: 'indeterminate' })
        .where('call_id', '=', call.id)
        .execute();
      await later.get(call.id)?.();
      expect((await entriesOf(call)).map(({ kind }) => kind)).toEqual(kinds);
    }
  });

  it('is recorded without an intent where that was never written', async () => {
    const call = Object.assign(await validCall(write, { text: 'a' }), { intentInDoubt: true });
    expect(await record(call, FAILED)).toBe(FAILED);
    expect(call.admitted).toBe(false);
    expect((await entriesOf(call)).map(({ kind }) => kind)).toEqual(['call']);
    expect(later.size).toBe(0);
  });

  it('answers an intent that was written without an answer, and gives its count back', async () => {
    const call = Object.assign(await validCall(write, { text: 'a' }), {
      decision: ALLOW,
      policyStamp: 'none',
    });
    await admitChange(ports)(call, async () => DONE);
    Object.assign(call, { admitted: false, intentInDoubt: true });
    expect(await record(call, FAILED)).toBe(FAILED);
    expect(call.admitted).toBe(true);
    expect(await entriesOf(call)).toMatchObject([
      { kind: 'intent' },
      { kind: 'outcome', status: 'failed', extra: { refunded: true } },
    ]);
  });

  it('of a read waits in memory while the database cannot be read', async () => {
    const { database } = ports;
    const selectFrom = () => {
      throw LOST;
    };
    ports = { ...ports, database: { ...database, db: { selectFrom } } as never };
    expect(await record(await readCall(), DONE)).toBe(DONE);
    expect(ports.recorder.state.waiting).toBe(1);
  });

  it('of a call whose intent is in doubt is written later, too', async () => {
    const { database } = ports;
    const selectFrom = () => {
      throw LOST;
    };
    ports = { ...ports, database: { ...database, db: { selectFrom } } as never };
    const call = Object.assign(await validCall(write, { text: 'a' }), { intentInDoubt: true });
    expect(await record(call, FAILED)).toMatchObject({ status: 'failed', fault: { code: 'db_error' } });
    expect([...later.keys()]).toEqual([call.id]);
  });

  it('withholds the answer to a read, but not the report of a tool on the server itself', async () => {
    const add = (error: Error) => {
      ports = { ...ports, recorder: { add: () => Promise.reject(error) } as never };
    };
    add(LOST);
    const answer = await record(await readCall(), DONE);
    expect(answer).toMatchObject({ status: 'failed', fault: { code: 'db_error', cause: LOST } });
    expect('fault' in answer && answer.fault.message).toContain('PostgreSQL is not responding');
    expect(later.size).toBe(0);
    expect(await record(await readCall({ alwaysAnswers: true }), DONE)).toBe(DONE);
    const unreadable: Outcome = {
      status: 'refused',
      rule: 'hard:unreadable_policy',
      fault: new ToolError('policy_error', 'No policy.'),
    };
    expect(await record(await readCall(), unreadable)).toBe(unreadable);
    expect(await record(await readCall(), { ...unreadable, fault })).toMatchObject({ status: 'failed' });
    expect(await record(await readCall(), { status: 'failed', fault: unreadable.fault })).toMatchObject({
      fault: { code: 'db_error' },
    });
    const full = new ToolError('db_error', 'The audit log cannot be written.');
    add(full);
    expect(await record(await readCall(), DONE)).toEqual({ status: 'failed', fault: full });
  });

  it('is not even tried while the recorder takes no more', async () => {
    const refusal = new ToolError('db_error', 'Full.');
    ports = { ...ports, recorder: { refusal } as never };
    let reached = false;
    const answer = await recordOutcome(ports)(await readCall(), async () => {
      reached = true;
      return DONE;
    });
    expect([answer, reached]).toEqual([{ status: 'failed', fault: refusal }, false]);
  });

  it('is reported in the server log with its call', async () => {
    const said: unknown[] = [];
    const log = { ...ports.log, error: (...line: unknown[]) => void said.push(line) };
    ports = { ...ports, log, recorder: { add: () => Promise.reject(LOST) } as never };
    const call = await readCall();
    await record(call, DONE);
    expect(said).toEqual([
      ['The outcome of a call could not be recorded', { call: call.id, tool: 'ledger_read', error: LOST }],
    ]);
  });
});
