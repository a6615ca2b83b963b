import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CallResult } from '../kernel/call/call.ts';
import { ParkedCalls } from './parked.ts';
import { TaskBoard } from './task-board.ts';

const RESULT = { callId: 'one' } as unknown as CallResult;
const open = (calls = new ParkedCalls()) => ({ calls, call: calls.open('agent:a', 'stamp') });
const noSignal = () => new AbortController().signal;
const never = new Promise<never>(() => {});

afterEach(() => void vi.useRealTimers());

describe('a call that asks its client', () => {
  it('ends a leg with the question, and continues with the answer to the result', async () => {
    const { call } = open();
    call.start(async () => {
      expect(await call.put({ ask: 1 })).toEqual({ said: 'yes' });
      return RESULT;
    });
    expect(await call.leg(noSignal())).toEqual({ requests: { ask: 1 } });
    expect(call.isWaiting).toBe(true);
    const last = call.leg(noSignal());
    call.answer({ said: 'yes' });
    expect(call.isWaiting).toBe(false);
    expect(await last).toEqual({ result: RESULT });
  });

  it('puts one question at a time, and keeps one that comes between two legs', async () => {
    const { call } = open();
    const answers: unknown[] = [];
    call.start(async () => {
      answers.push(...(await Promise.all([call.put({ ask: 1 }), call.put({ ask: 2 })])));
      return RESULT;
    });
    expect(await call.leg(noSignal())).toEqual({ requests: { ask: 1 } });
    call.answer({ said: 1 });
    await new Promise(setImmediate);
    expect(await call.leg(noSignal())).toEqual({ requests: { ask: 2 } });
    const last = call.leg(noSignal());
    call.answer({ said: 2 });
    expect(await last).toEqual({ result: RESULT });
    expect(answers).toEqual([{ said: 1 }, { said: 2 }]);
  });

  it('asks the next question also after one that failed', async () => {
    const { call } = open();
    const board = new TaskBoard();
    call.start(() => never);
    const task = call.becomeTask(board, () => never);
    const asked = [call.put({ ask: 1 }), call.put({ ask: 2 })];
    for (const one of asked) one.catch(() => {});
    await new Promise(setImmediate);
    board.cancel('agent:a', task?.taskId ?? '');
    await expect(asked[0]).rejects.toThrow('The task was cancelled.');
    await expect(asked[1]).rejects.toThrow('The call is over.');
  });

  it('is given up when no answer comes for ten minutes, and not before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { call } = open();
    call.start(() => never);
    const asked = call.put({ ask: 1 });
    asked.catch(() => {});
    await call.leg(noSignal());
    vi.advanceTimersByTime(599_999);
    expect(call.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(call.signal.aborted).toBe(true);
    await expect(asked).rejects.toThrow('The call was given up.');
    await expect(call.put({ ask: 2 })).rejects.toThrow('The call is over.');
  });

  it('is not given up for want of an answer that came', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { call } = open();
    call.start(() => never);
    const asked = call.put({ ask: 1 });
    await call.leg(noSignal());
    call.answer({});
    await asked;
    vi.advanceTimersByTime(600_000);
    expect(call.signal.aborted).toBe(false);
  });

  it('ends when the client cancels the leg that is open, also one that was cancelled before', async () => {
    for (const before of [true, false]) {
      const { call } = open();
      call.start(() => never);
      const cancel = new AbortController();
      if (before) cancel.abort();
      void call.leg(cancel.signal);
      cancel.abort();
      expect(call.signal.aborted).toBe(true);
    }
  });

  it('does not end when a leg is cancelled after its answer', async () => {
    const { call } = open();
    call.start(async () => {
      await call.put({ ask: 1 });
      return RESULT;
    });
    const cancel = new AbortController();
    await call.leg(cancel.signal);
    cancel.abort();
    expect(call.signal.aborted).toBe(false);
  });

  it('takes an answer to nothing for nothing', () => {
    expect(() => open().call.answer({})).not.toThrow();
  });

  it('asks nothing more once it has its result', async () => {
    const { call } = open();
    call.start(async () => RESULT);
    expect(await call.leg(noSignal())).toEqual({ result: RESULT });
    await new Promise(setImmediate);
    expect(call.signal.aborted).toBe(true);
  });
});

describe('a call that becomes a task', () => {
  it('ends the leg with a handle once, and asks through the task', async () => {
    const { call } = open();
    const board = new TaskBoard();
    call.start(() => never);
    call.onLog = () => {};
    const leg = call.leg(noSignal());
    const task = call.becomeTask(board, () => never);
    expect(task).toMatchObject({ status: 'working' });
    expect(await leg).toEqual({ task });
    expect(call.becomeTask(board, () => never)).toBeUndefined();
    call.onProgress?.({ message: 'half', done: 1, total: 2 });
    expect(board.get('agent:a', task?.taskId ?? '')).toMatchObject({ statusMessage: 'half' });
    const asked = call.put({ ask: 1 });
    asked.catch(() => {});
    await new Promise(setImmediate);
    expect(board.get('agent:a', task?.taskId ?? '')).toMatchObject({
      status: 'input_required',
      inputRequests: { ask: 1 },
    });
    expect([call.isWaiting, call.onLog]).toEqual([false, undefined]);
    board.cancel('agent:a', task?.taskId ?? '');
    expect(call.signal.aborted).toBe(true);
  });

  it('waits for its result where the agent or the board has no room for a task', async () => {
    for (const board of [new TaskBoard({ working: 0 }), new TaskBoard({ max: 0 })]) {
      const { call } = open();
      const leg = call.leg(noSignal());
      expect(call.becomeTask(board, () => never)).toBeUndefined();
      call.start(async () => RESULT);
      expect(await leg).toEqual({ result: RESULT });
    }
  });
});

describe('a question that waits for its client', () => {
  const waiting = async () => {
    const { calls, call } = open();
    call.start(async () => {
      await call.put({ ask: 1 });
      return RESULT;
    });
    await call.leg(noSignal());
    return { calls, call, question: calls.keep(call) };
  };

  it('is answered once, by the same principal with the same call', async () => {
    const { calls, call, question } = await waiting();
    expect(calls.take(question, 'agent:b', 'stamp')).toBeUndefined();
    expect(calls.take(question, 'agent:a', 'other')).toBeUndefined();
    expect(calls.take('another', 'agent:a', 'stamp')).toBeUndefined();
    expect(calls.take(question, 'agent:a', 'stamp')).toBe(call);
    expect(calls.take(question, 'agent:a', 'stamp')).toBeUndefined();
  });

  it('is gone when its call is over or already has an answer', async () => {
    const over = await waiting();
    over.call.abandon();
    expect(over.calls.take(over.question, 'agent:a', 'stamp')).toBeUndefined();
    const answered = await waiting();
    answered.call.answer({});
    expect(answered.calls.take(answered.question, 'agent:a', 'stamp')).toBeUndefined();
  });
});
