import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendToLog, approvalOf, rowOf } from '../approvals/approvals.fixture.ts';
import { toApproval } from '../approvals/row.ts';
import { ArtifactStore } from '../log/artifacts.ts';
import { prepareEntry } from '../log/entry.ts';
import { erasePayloads } from '../log/erase.ts';
import { payloadRow, sealPayload } from '../log/log.ts';
import { answerHash, ERASED_ANSWER } from '../log/rows/key-row.ts';
import { writeWithEvidence } from '../log/write.ts';
import type { Decision } from '../policy/index.ts';
import type { Ports } from '../ports.ts';
import { PAYLOADS } from '../store/statements.ts';
import type { IdempotencyTable } from '../store/tables.ts';
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
  /** The row of the first call, with its arguments stored. */
  const insertCall = async ({ id, askedDigest }: CallState, status: string) => {
    const { db } = steps.store.database;
    const at = NOW.toISOString();
    const row = {
      call_id: id,
      started_at: at,
      tool: 'ledger_write',
      toolkit: 'ledger',
      category: 'ledger',
      effect: 'change',
      principal: 'agent:local',
      transport: 'test',
      digest: askedDigest,
      status,
      decision: 'allow',
      latency_ms: 0,
    };
    await db
      .insertInto('calls')
      .values(row as never)
      .execute();
    const args = { call_id: id, kind: 'args', hash: '', salt: '', body: '{"text":"a"}', at, erased_at: null };
    await db.insertInto('audit_payloads').values(args).execute();
  };
  const setPolicy = (decision: Partial<Decision>) => {
    const current = { decide: () => ({ ...ALLOW, ...decision }), limitsFor: () => [] };
    ports = { ...ports, policy: { ...ports.policy, current: current as never } };
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

  it.each<[string, Partial<IdempotencyTable>, string]>([
    ['another result', { outcome: '{"data":{"written":"b"},"notes":{}}' }, 'did not return'],
    ['no result', { outcome: null }, 'did not return'],
    ['what stands for an erased one', { outcome: ERASED_ANSWER }, 'did not return'],
    ['another call', { call_id: 'invented' }, 'is not in the log'],
  ])('is refused when its key was edited to have %s', async (_what, change, message) => {
    const outcome = JSON.stringify({ data: { written: 'a' }, notes: {} });
    const { first, call } = await earlier('ok', { outcome });
    await steps.store.database.db.updateTable('idempotency').set(change).execute();
    setPolicy({});
    const answer = send(call);
    await expect(answer).rejects.toMatchObject({
      code: 'db_error',
      effect: 'none',
      retryable: false,
      detail: { first_call: change.call_id ?? first.id },
    });
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

  it('is not answered from its key as a dry run', async () => {
    const { call } = await earlier('ok', {}, undefined, { text: 'a', dry_run: true });
    expect(call.dryRunRequested).toBe(true);
    expect(await send(call)).toBe(DONE);
  });

  it('is refused with a key that is too long', async () => {
    const { maxKeyLength } = ports.limits;
    expect(await send(await callWith({ idempotencyKey: 'k'.repeat(maxKeyLength) }))).toBe(DONE);
    const long = await callWith({ idempotencyKey: 'k'.repeat(maxKeyLength + 1) });
    expect(() => send(long)).toThrow(expect.objectContaining({ code: 'quota_exceeded' }));
  });

  it('fails at once with an error of its own', async () => {
    let tries = 0;
    const next = async () => {
      tries += 1;
      throw new Error('the disk is full');
    };
    await expect(send(await callWith(), next)).rejects.toThrow('the disk is full');
    expect(tries).toBe(1);
  });

  it('is answered to who made it, even where policy denies it now', async () => {
    const { first, call } = await earlier('ok');
    setPolicy({ action: 'deny' });
    expect(await send(call)).toBe(DONE);
    await insertCall(first, 'ok');
    expect(await send(call)).toMatchObject({ replayed: true });
    expect(call.replayOf).toBe(first.id);
  });

  it('runs when its key was freed while it was looked up', async () => {
    const { call } = await earlier('ok');
    // A plugin holds its connection until it answers, so the key is freed by another.
    const { db } = await steps.store.again();
    const freed = steps.store.database.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows.some((row) => Object.hasOwn(row, 'scope_key')))
          await db.deleteFrom('idempotency').execute();
        return result;
      },
    });
    ports = { ...ports, database: { ...ports.database, db: freed } };
    expect(await send(call)).toBe(DONE);
  });

  it('is refused while the outcome of the first is unknown', async () => {
    const { first, call } = await earlier('indeterminate');
    await insertCall(first, 'indeterminate');
    await expect(send(call)).rejects.toMatchObject({
      code: 'indeterminate',
      message: expect.stringContaining(first.id),
      detail: { first_call: first.id },
    });
  });

  it('is answered once the remote service says how the first ended', async () => {
    const { first, call } = await earlier('indeterminate');
    await insertCall(first, 'indeterminate');
    const data = { written: 'a' };
    const tool = toolNamed('ledger_write', { reconcile: async () => ({ settled: 'done', data }) });
    ports = { ...ports, resolve: async () => ({ ...call.request.bound, tool }) };
    expect(await send(call)).toMatchObject({ status: 'ok', data, replayed: true });
  });

  it('has the key of the call that was routed where that was approved', async () => {
    const approval = approvalOf({ context: { replay_key: 'routed' } });
    const call = await callWith({ approval, idempotencyKey: 'k' });
    await send(call);
    expect(call.replayKey).toBe('routed');
  });

  it('has no key where neither its caller nor its tool names one', async () => {
    for (const tool of [write, toolNamed('ledger_write_blind')]) {
      const call = await validCall(tool, { text: 'a' });
      expect(await send(call)).toBe(DONE);
      expect(call.replayKey).toBeUndefined();
    }
  });

  it('has no key as a read, whatever its caller names', async () => {
    const read = await validCall(toolNamed('ledger_read'), {}, { idempotencyKey: 'k' });
    expect(await send(read)).toBe(DONE);
    expect(read.replayKey).toBeUndefined();
  });

  describe('from another agent of the same run', () => {
    const under = async (
      decision: Partial<Decision>,
      more: Partial<CallRequest> = {},
      state: Partial<CallState> = {},
    ) => {
      setPolicy(decision);
      const args = { text: 'a', run_id: 'r' };
      const probe = await validCall(write, args);
      await replayEqual(ports)(probe, async () => DONE);
      await earlier('ok', { scope_key: probe.replayKey, digest: probe.askedDigest });
      return send(Object.assign(await validCall(write, args, { principal: ROBIN, ...more }), state));
    };

    it('is shown the answer where it may make the call', async () => {
      expect(await under({ action: 'allow' })).toMatchObject({ replayed: true });
    });

    it.each(['deny', 'dry_run', 'ask'] as const)('goes its own way where policy says %s', async (action) => {
      expect(await under({ action })).toBe(DONE);
    });

    /** A row that says approved. */
    const approved = async () => {
      const { db } = steps.store.database;
      const row = rowOf({ state: 'approved', decided_by: 'person:ada', decided_at: NOW.toISOString() });
      return toApproval(
        await db.insertInto('approvals').values(row).returningAll().executeTakeFirstOrThrow(),
      );
    };

    it.each(['approval', 'grant'] as const)(
      'is shown the answer under an %s that the log has',
      async (kind) => {
        const approval = await approved();
        const about = { uuid: approval.uuid, digest: approval.digest, requester: 'agent:local' };
        const entry = { kind: 'approval', at: NOW.toISOString(), tool: approval.tool } as const;
        await appendToLog(steps.store.database, [
          { ...entry, status: 'pending', approval: about },
          { ...entry, status: 'approved', approval: { ...about, approver: 'person:ada' } },
        ]);
        const given = kind === 'approval' ? under({ action: 'ask' }, { approval }) : undefined;
        const answer = await (given ?? under({ action: 'ask' }, {}, { grant: approval }));
        expect(answer).toMatchObject({ replayed: true });
      },
    );

    it('is refused under an approval that only its row has, which is closed', async () => {
      const approval = await approved();
      expect(await under({ action: 'ask' }, { approval })).toMatchObject({
        status: 'refused',
        rule: 'hard:approval',
        fault: { code: 'approval_invalid', detail: { approval_id: approval.id } },
      });
      expect(await steps.ports.queue.get(approval.id)).toMatchObject({ state: 'failed' });
    });

    it('is shown the answer as a part of what was approved, and not where policy denies it', async () => {
      const parent = { grant: { id: 1 } } as never;
      expect(await under({ action: 'ask' }, { parent })).toMatchObject({ replayed: true });
      await steps.store.database.db.deleteFrom('idempotency').execute();
      expect(await under({ action: 'deny' }, { parent })).toBe(DONE);
    });
  });
});
