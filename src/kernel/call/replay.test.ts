import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ArtifactStore } from '../log/artifacts.ts';
import { prepareEntry } from '../log/entry.ts';
import { erasePayloads } from '../log/erase.ts';
import { payloadRow, sealPayload } from '../log/log.ts';
import { answerHash, ERASED_ANSWER } from '../log/rows/key-row.ts';
import { writeWithEvidence } from '../log/write.ts';
import type { Decision } from '../policy/index.ts';
import type { Ports } from '../ports.ts';
import { PAYLOADS } from '../store/statements.ts';
import type { CallRequest, CallState } from './call.ts';
import { ClaimLost, replayEqual } from './replay.ts';
import { ALLOW, DONE, openSteps, type StepStore, toolNamed, validCall } from './steps.fixture.ts';

const NOW = new Date('2026-03-02T10:30:00Z');
const write = toolNamed('ledger_write');
const ROBIN = { kind: 'agent', id: 'robin' } as const;

describe('a call that comes again', () => {
  let steps: StepStore;
  let ports: Ports;
  beforeEach(async () => {
    steps = await openSteps();
    ports = { ...steps.ports, now: () => NOW };
  });
  afterEach(() => steps.store.close());

  const callWith = (request: Partial<CallRequest> = { idempotencyKey: 'k' }, args: object = { text: 'a' }) =>
    validCall(write, args, request);
  /** What the first call left, and the same call once more. */
  const earlier = async (state: string, more: object = {}, again?: Partial<CallRequest>, args?: object) => {
    const first = await callWith();
    const row = {
      scope_key: 'agent:local|ledger_write|k',
      digest: first.askedDigest,
      call_id: first.id,
      state,
      outcome: null,
      created_at: NOW.toISOString(),
      expires_at: null,
      ...more,
    };
    await steps.store.database.db
      .insertInto('idempotency')
      .values(row as never)
      .execute();
    await log(first, state, row);
    return { first, call: await callWith(again, args) };
  };
  /** The entries of the first call, as the log has them when its key says `state`. */
  const log = ({ id: call }: CallState, status: string, row: { outcome?: string | null }) => {
    const at = NOW.toISOString();
    const result = sealPayload({ status });
    const extra = row.outcome ? { replay_hash: answerHash(result.salt, row.outcome) } : undefined;
    const outcome = prepareEntry({ kind: 'outcome', at, call, status, result: result.hash, extra });
    const isOver = status !== 'running';
    return writeWithEvidence(steps.store.database, async (write) => {
      write.append(prepareEntry({ kind: 'intent', at, call }), ...(isOver ? [outcome] : []));
      if (isOver) write.insert(PAYLOADS, payloadRow(outcome, 'result', result));
    });
  };
  const send = (call: CallState, next = async () => DONE) => replayEqual(ports)(call, next);
  const deadline = (deadlineMs: number) => {
    ports = { ...ports, limits: { ...ports.limits, deadlineMs } };
  };

  it('gets what is stored, and nothing where nothing was kept', async () => {
    const outcome = JSON.stringify({ data: { written: 'a' }, notes: { hint: 1 } });
    const kept = await earlier('ok', { outcome });
    expect(await send(kept.call)).toEqual({
      status: 'ok',
      data: { written: 'a' },
      notes: { hint: 1 },
      replayed: true,
    });
    await erasePayloads(
      steps.store.database,
      { calls: [kept.first.id] },
      {
        artifacts: new ArtifactStore(steps.store.database, steps.store.dataDir),
        principal: 'person:ada',
        now: NOW,
      },
    );
    expect(await send(await callWith())).toEqual({
      status: 'ok',
      data: null,
      notes: { erased: true },
      replayed: true,
    });
  });

  it('gets what a call of an older version stored', async () => {
    const { call } = await earlier('ok');
    expect(await send(call)).toEqual({ status: 'ok', data: null, notes: {}, replayed: true });
  });

  it.each([
    ['another result', { outcome: '{"data":{"written":"b"},"notes":{}}' }, 'did not return'],
    ['no result', { outcome: null }, 'did not return'],
    ['what stands for an erased one', { outcome: ERASED_ANSWER }, 'did not return'],
    ['another call', { call_id: 'invented' }, 'is not in the log'],
  ])('is refused when its key was edited to have %s', async (_what, change, message) => {
    const outcome = JSON.stringify({ data: { written: 'a' }, notes: {} });
    const { call } = await earlier('ok', { outcome });
    await steps.store.database.db.updateTable('idempotency').set(change).execute();
    ports = { ...ports, policy: { ...ports.policy, current: { decide: () => ALLOW } as never } };
    const answer = send(call);
    await expect(answer).rejects.toMatchObject({ code: 'db_error', effect: 'none', retryable: false });
    await expect(answer).rejects.toThrow(message);
    await expect(answer).rejects.toThrow('countersign audit verify');
  });

  it('is refused when its key was edited to say that the first one succeeded', async () => {
    const { call } = await earlier('running');
    await steps.store.database.db.updateTable('idempotency').set({ state: 'ok' }).execute();
    await expect(send(call)).rejects.toThrow('is "ok", but the log says "running"');
  });

  it.each(['{"data":', '[]', 'null', '{"data":1,"notes":2}'])(
    'is refused, and not run again, where %s is stored',
    async (outcome) => {
      const { first, call } = await earlier('ok', { outcome });
      const next = () => Promise.reject(new Error('It ran again.'));
      await expect(send(call, next)).rejects.toMatchObject({
        code: 'db_error',
        message: expect.stringContaining('The stored result of this idempotency key cannot be read.'),
        retryable: false,
        detail: { first_call: first.id },
      });
    },
  );

  it('with other arguments is refused with the name of the first', async () => {
    const { first, call } = await earlier('ok', {}, { idempotencyKey: 'k' }, { text: 'b' });
    await expect(send(call)).rejects.toMatchObject({
      code: 'idempotency_conflict',
      detail: { first_call: first.id },
    });
  });

  it('runs when its key has expired, and not in the moment before', async () => {
    const { call } = await earlier('ok', { expires_at: '2026-03-02T10:29:59.999Z' });
    expect(await send(call)).toBe(DONE);
    await steps.store.database.db.updateTable('idempotency').set({ expires_at: NOW.toISOString() }).execute();
    expect(await send(await callWith())).toMatchObject({ replayed: true });
  });

  it('waits for one that runs only as long as a call may take', async () => {
    const { first, call } = await earlier('running');
    deadline(-1);
    await expect(send(call)).rejects.toMatchObject({ code: 'busy', detail: { first_call: first.id } });
    const lost = async () => {
      throw new ClaimLost();
    };
    await steps.store.database.db.deleteFrom('idempotency').execute();
    await expect(send(await callWith(), lost)).rejects.toMatchObject({ code: 'busy' });
  });

  it('waits within its time, and gives up when its caller does', async () => {
    const stop = new AbortController();
    const { call } = await earlier('running', {}, { idempotencyKey: 'k', signal: stop.signal });
    deadline(0);
    const waiting = send(call);
    waiting.catch(() => {});
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('is tried again when the key was lost to another, within its time', async () => {
    let tries = 0;
    deadline(0);
    const next = async () => {
      tries += 1;
      if (tries < 3) throw new ClaimLost();
      return DONE;
    };
    expect(await send(await callWith(), next)).toBe(DONE);
    expect(tries).toBe(3);
  });

  it('has no key as a read, whatever its caller names', async () => {
    const read = await validCall(toolNamed('ledger_read'), {}, { idempotencyKey: 'k' });
    expect(await send(read)).toBe(DONE);
    expect(read.replayKey).toBeUndefined();
  });

  describe('from another agent of the same run', () => {
    const under = async (decision: Partial<Decision>, more: Partial<CallRequest> = {}) => {
      const current = { decide: () => ({ ...ALLOW, ...decision }), limitsFor: () => [] };
      ports = { ...ports, policy: { ...ports.policy, current: current as never } };
      const args = { text: 'a', run_id: 'r' };
      const probe = await validCall(write, args);
      await replayEqual(ports)(probe, async () => DONE);
      await earlier('ok', { scope_key: probe.replayKey, digest: probe.askedDigest });
      return send(await validCall(write, args, { principal: ROBIN, ...more }));
    };

    it('is shown the answer where it may make the call', async () => {
      expect(await under({ action: 'allow' })).toMatchObject({ replayed: true });
    });

    it.each(['deny', 'dry_run', 'ask'] as const)('goes its own way where policy says %s', async (action) => {
      expect(await under({ action })).toBe(DONE);
    });

    it('is shown the answer as a part of what was approved, and not where policy denies it', async () => {
      const parent = { grant: { id: 1 } } as never;
      expect(await under({ action: 'ask' }, { parent })).toMatchObject({ replayed: true });
      await steps.store.database.db.deleteFrom('idempotency').execute();
      expect(await under({ action: 'deny' }, { parent })).toBe(DONE);
    });
  });
});
