import { performance } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import type { Preparation, Tool } from '../../contract/tool.ts';
import { digest } from '../../lib/canonical.ts';
import type { Decision } from '../policy/index.ts';
import type { Ports } from '../ports.ts';
import { setPaused } from '../store/pause.ts';
import type { CallRequest, CallState } from './call.ts';
import { prepareArgs } from './prepare.ts';
import { ALLOW, DONE, openSteps, type StepStore, toolNamed, validCall } from './steps.fixture.ts';

type Complete = Preparation<unknown>['complete'];

let steps: StepStore;
let ports: Ports;
let complete: Complete;
let completions: number;
beforeAll(async () => {
  steps = await openSteps();
});
afterAll(() => steps.store.close());
beforeEach(async () => {
  await steps.store.database.db.deleteFrom('settings').execute();
  ports = steps.ports;
  completions = 0;
  complete = async () => ({ text: 'written by a model' });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A tool that completes every text but a complete one. */
const tool = (more: Partial<Tool> = {}): Tool => ({
  ...toolNamed('ledger_write'),
  check: undefined,
  prepare: ({ text }: JsonObject) =>
    text === 'written by a model'
      ? undefined
      : {
          complete(context) {
            completions += 1;
            return complete(context);
          },
        },
  ...more,
});
const prepare = async (more: Partial<Tool> = {}, request: Partial<CallRequest> = {}) => {
  const call = await validCall(tool(more), { text: 'open' }, request);
  let reached: CallState | undefined;
  const outcome: Outcome = await prepareArgs(ports)(call, async (passed) => {
    reached = passed;
    return DONE;
  });
  return { call, outcome, isReached: reached === call };
};
const under = (action: Decision['action']) => {
  const current = { decide: () => ({ ...ALLOW, action }), limitsFor: () => [] };
  ports = { ...ports, policy: { ...ports.policy, current: current as never } };
};
/** The clock jumps by this much while the arguments are completed. */
const late = (ms: number): Complete => {
  const started = performance.now();
  let now = started;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  return async () => {
    now = started + ms;
    return { text: 'written by a model' };
  };
};

describe('arguments that a tool completes', () => {
  it('become the call, and the digest of what was sent stays in the evidence', async () => {
    const orderedBy = { principal: { kind: 'agent', id: 'local', orderedBy: 'person:ada' } } as const;
    const { call, isReached } = await prepare({}, orderedBy);
    const args = { text: 'written by a model' };
    expect(isReached).toBe(true);
    expect(call).toMatchObject({ args, digest: digest('ledger_write', args), isPrepared: true });
    expect(call.askedDigest).toBe(digest('ledger_write', { text: 'open' }));
    expect(call.evidence).toEqual({ ordered_by: 'person:ada', asked_digest: call.askedDigest });
  });

  it('are left alone where nothing is open, or the tool completes none', async () => {
    for (const more of [{ prepare: undefined }, { prepare: () => undefined }]) {
      const { call, isReached } = await prepare(more);
      expect(isReached).toBe(true);
      expect(call).toMatchObject({ args: { text: 'open' }, isPrepared: false });
    }
  });

  it('are completed only where the call may run or is asked about', async () => {
    for (const [action, count] of [
      ['deny', 0],
      ['dry_run', 0],
      ['allow', 1],
      ['ask', 2],
    ] as const) {
      under(action);
      expect(await prepare()).toMatchObject({ isReached: true });
      expect(completions).toBe(count);
    }
  });

  it('of a change are not completed while changes are paused', async () => {
    await steps.store.database.write((trx) => setPaused(trx, true, 'person:ada'));
    expect(await prepare()).toMatchObject({
      isReached: false,
      outcome: { status: 'refused', rule: 'hard:paused', fault: { code: 'paused' } },
    });
    expect(completions).toBe(0);
    expect(await prepare({ effect: 'read' })).toMatchObject({ isReached: true });
    expect(completions).toBe(1);
  });

  it('are those of an approved call, which was completed before it was queued or needed nothing', async () => {
    const approved = async (context: JsonObject) => {
      const approval = { context } as Approval;
      const { call, isReached } = await prepare({}, { approval });
      expect(isReached).toBe(true);
      return call.isPrepared;
    };
    expect(await approved({ asked_digest: 'd' })).toBe(true);
    expect(await approved({})).toBe(false);
    expect(completions).toBe(0);
  });

  it('are those of the same call that is still pending', async () => {
    const asked: unknown[] = [];
    const findPrepared = async (call: object) => {
      asked.push(call);
      return { args: { text: 'pending' } } as unknown as Approval;
    };
    ports = { ...ports, queue: { findPrepared } as never };
    const check = () => {
      throw new Error('Checked before it was queued.');
    };
    const { call } = await prepare({ check });
    expect(call).toMatchObject({ args: { text: 'pending' }, isPrepared: true });
    expect(call.digest).toBe(digest('ledger_write', { text: 'pending' }));
    expect(completions).toBe(0);
    const { askedDigest, replayKey, request } = call;
    expect(asked).toEqual([{ replayKey, askedDigest, bound: request.bound, principal: request.principal }]);
  });

  it('are checked like arguments that were sent', async () => {
    const checked: unknown[] = [];
    await prepare({ check: (args, services) => void checked.push(args, services) });
    expect(checked).toEqual([{ text: 'written by a model' }, {}]);
    const refusal = new ToolError('invalid_input', 'Too long.');
    const check = () => {
      throw refusal;
    };
    await expect(prepare({ check })).rejects.toBe(refusal);
  });

  it.each([
    ['invalid', { text: 7 }],
    ['still open', { text: 'open' }],
  ])('are refused as an internal error where they are %s', async (_what, completed) => {
    complete = async () => completed;
    await expect(prepare()).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('completing arguments', () => {
  it('is given the services of the tool and a signal that its caller fires', async () => {
    const caller = new AbortController();
    complete = async ({ services, signal }) => {
      expect(services).toEqual({});
      expect(signal.aborted).toBe(false);
      caller.abort(new Error('left'));
      expect(signal.aborted).toBe(true);
      throw signal.reason;
    };
    await expect(prepare({}, { signal: caller.signal })).rejects.toMatchObject({
      code: 'cancelled',
      message: 'The client cancelled ledger_write. Nothing was done.',
      cause: { message: 'left' },
    });
  });

  it('must end within the time of the tool, or that of all calls', async () => {
    const timeout = (seconds: number) => ({
      code: 'timeout',
      message: `ledger_write did not complete its arguments within ${seconds} s. Nothing was done.`,
    });
    complete = late(3_000);
    await expect(prepare({ deadlineMs: 3_000 })).rejects.toMatchObject(timeout(3));
    complete = late(2_999);
    expect(await prepare({ deadlineMs: 3_000 })).toMatchObject({ isReached: true });
    complete = late(5_000);
    await expect(prepare()).rejects.toMatchObject(timeout(5));
    complete = late(5_000);
    expect(await prepare({ deadlineMs: 6_000 })).toMatchObject({ isReached: true });
  });

  it('fails with its own error, unless it failed because its time was over', async () => {
    const own = new ToolError('llm_error', 'No model.');
    complete = () => Promise.reject(own);
    await expect(prepare({ deadlineMs: 0 })).rejects.toBe(own);
    await expect(prepare()).rejects.toBe(own);
    const bug = new TypeError('a bug');
    complete = () => Promise.reject(bug);
    await expect(prepare()).rejects.toBe(bug);
    await expect(prepare({ deadlineMs: 0 })).rejects.toMatchObject({ code: 'timeout', cause: bug });
  });

  it('leaves no timer behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    complete = async ({ signal }) => {
      expect(signal.aborted).toBe(false);
      expect(vi.getTimerCount()).toBe(1);
      return { text: 'written by a model' };
    };
    await prepare();
    expect(vi.getTimerCount()).toBe(0);
  });
});
