import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Ending, TaskBoard, type TaskControl } from './task-board.ts';

const done: Ending = { status: 'completed', result: { text: 'done' } };
const untilStopped = ({ signal }: Pick<TaskControl, 'signal'>): Promise<Ending> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ status: 'cancelled' }), { once: true });
  });

afterEach(() => void vi.useRealTimers());

describe('the board of tasks', () => {
  it('begins none when it is full, and makes room once the first have had their time', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const board = new TaskBoard({ max: 2 });
    const first = board.start('a', async () => done);
    board.start('b', async () => done);
    expect(board.start('a', async () => done)).toBeUndefined();
    const { taskId = '', ttlMs = 0 } = first ?? {};
    await new Promise(setImmediate);
    vi.setSystemTime(Date.now() + ttlMs - 1);
    expect(board.get('a', taskId)).toMatchObject({ status: 'completed', result: { text: 'done' } });
    vi.setSystemTime(Date.now() + 1);
    expect(board.get('a', taskId)).toBeUndefined();
    expect(board.start('a', async () => done)).toMatchObject({ status: 'working' });
  });

  it('leaves half of its room to other agents, and counts what is under way for each', async () => {
    const board = new TaskBoard({ max: 4, working: 2 });
    for (const left of [true, true]) {
      expect(board.hasShare('a')).toBe(left);
      board.start('a', untilStopped);
    }
    expect([board.hasShare('a'), board.hasShare('b')]).toEqual([false, true]);
    expect(board.start('a', async () => done)).toBeUndefined();
    expect(board.start('b', async () => done)).toMatchObject({ status: 'working' });
    expect(board.start('b', async () => done)).toMatchObject({ status: 'working' });
    await board.close();
    expect(board.hasShare('a')).toBe(true);
  });

  it('keeps a task that still works beyond its time', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const board = new TaskBoard();
    const { taskId = '', ttlMs = 0 } = board.start('a', untilStopped) ?? {};
    vi.setSystemTime(Date.now() + ttlMs + 1);
    expect(board.get('a', taskId)).toMatchObject({ status: 'working' });
  });

  it('shows and cancels a task only for its owner', () => {
    const board = new TaskBoard();
    const { taskId = '' } = board.start('a', untilStopped) ?? {};
    expect(board.get('b', taskId)).toBeUndefined();
    expect(board.cancel('b', taskId)).toBe(false);
    expect(board.get('a', taskId)).toMatchObject({ status: 'working' });
    expect(board.cancel('a', taskId)).toBe(true);
  });

  it('says what the work says, until it has ended', async () => {
    const board = new TaskBoard();
    let say: (message: string) => void = () => {};
    const { taskId = '' } =
      board.start('a', (control) => {
        say = control.say;
        return untilStopped(control);
      }) ?? {};
    say('half of it');
    expect(board.get('a', taskId)?.statusMessage).toBe('half of it');
    await board.close();
    say('too late');
    expect(board.get('a', taskId)).toMatchObject({ status: 'cancelled', statusMessage: undefined });
  });

  it('stops what works when it closes, for a reason that lets it go on elsewhere, and begins nothing more', async () => {
    const board = new TaskBoard();
    let reason: unknown;
    board.start('a', async ({ signal }) => {
      const ending = await untilStopped({ signal });
      reason = signal.reason;
      return ending;
    });
    await board.close();
    expect(reason).toMatchObject({ name: 'TimeoutError' });
    expect(board.start('a', async () => done)).toBeUndefined();
  });
});
