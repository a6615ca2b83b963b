import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { Approval, ApprovalsPort, Log } from '../../contract/ports.ts';
import type { Principal } from '../../contract/principal.ts';
import { Holds, type ToHold } from './holds.ts';

const ADA: Principal = { kind: 'person', id: 'ada' };
const BOB: Principal = { kind: 'person', id: 'bob' };
const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };
const item = (id: number, version = 1): ToHold => ({
  id,
  version,
  title: `Post ${id}`,
  done: `Posted ${id}`,
});

describe('holds', () => {
  let ran: number[];
  let approve: ApprovalsPort['approve'];
  let holds: Holds;
  let published: number;

  beforeEach(() => {
    vi.useFakeTimers();
    ran = [];
    published = 0;
    approve = async (id) => {
      ran.push(Number(id));
      await Promise.resolve();
      return { approval: { id: Number(id), state: 'done' } as Approval, outcome: undefined };
    };
    holds = new Holds({
      approvals: { approve: (...given) => approve(...given) },
      seconds: 8,
      log: quiet,
      now: () => new Date(),
      publish: async () => {
        published += 1;
      },
    });
  });
  afterEach(async () => {
    await holds.close();
    vi.useRealTimers();
  });

  const keyOf = (person: Principal): string => holds.list(person).at(-1)?.key ?? '';

  it('run once when the time is over, and report each result briefly', async () => {
    holds.start(ADA, [item(1), item(2)]);
    expect(holds.list(ADA)).toMatchObject([{ state: 'held', left_ms: 8000, hold_ms: 8000, results: [] }]);
    await vi.advanceTimersByTimeAsync(7999);
    expect(ran).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ran).toEqual([1, 2]);
    expect(holds.list(ADA)).toMatchObject([
      { state: 'ran', left_ms: 0, results: [{ id: 1, state: 'done' }, { id: 2 }] },
    ]);
    // It began, it ran, it ended.
    expect(published).toBe(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(holds.list(ADA)).toEqual([]);
    expect(ran).toEqual([1, 2]);
  });

  it('run once when the timer and "run now" come together, in either order', async () => {
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const plain = approve;
    approve = async (...given) => {
      const result = await plain(...given);
      await gate;
      return result;
    };
    holds.start(ADA, [item(1)]);
    const key = keyOf(ADA);
    const early = holds.runNow(ADA, key);
    await vi.advanceTimersByTimeAsync(20_000);
    const late = holds.runNow(ADA, key);
    expect(() => holds.callOff(ADA, key)).toThrow('already running');
    release();
    for (const view of await Promise.all([early, late])) expect(view).toMatchObject({ state: 'ran' });
    expect(ran).toEqual([1]);

    holds.start(ADA, [item(2)]);
    await vi.advanceTimersByTimeAsync(8000);
    expect(await holds.runNow(ADA, keyOf(ADA))).toMatchObject({ state: 'ran', results: [{ id: 2 }] });
    expect(ran).toEqual([1, 2]);
  });

  it('run nothing that was called off, also if "run now" comes after it', async () => {
    holds.start(ADA, [item(1)]);
    const key = keyOf(ADA);
    expect(holds.callOff(ADA, key)).toMatchObject({ state: 'called_off' });
    expect(holds.callOff(ADA, key)).toMatchObject({ state: 'called_off' });
    await expect(holds.runNow(ADA, key)).rejects.toThrow('called off');
    await vi.advanceTimersByTimeAsync(20_000);
    expect(ran).toEqual([]);
    // It can be held again.
    holds.start(ADA, [item(1)]);
    expect(holds.list(ADA)).toMatchObject([{ state: 'called_off' }, { state: 'held' }]);
  });

  it('keep the first of two holds on the same version, and start another for an edited one', () => {
    holds.start(ADA, [item(1), item(2)]);
    holds.start(ADA, [item(2), item(3)]);
    expect(holds.list(ADA).map(({ items }) => items.map(({ id }) => id))).toEqual([[1, 2], [3]]);
    expect(holds.ownOf(ADA, { id: 2, version: 1 })?.key).toBe(holds.list(ADA)[0]?.key);
    expect(holds.ownOf(ADA, { id: 2, version: 2 })).toBeUndefined();
    holds.start(ADA, [item(2, 2)]);
    expect(holds.ownOf(ADA, { id: 2, version: 2 })?.key).toBe(holds.list(ADA)[2]?.key);
  });

  it('belong to the person who approved', async () => {
    holds.start(ADA, [item(1)]);
    expect(holds.list(BOB)).toEqual([]);
    expect(() => holds.callOff(BOB, keyOf(ADA))).toThrow('does not exist');
    await expect(holds.runNow(BOB, keyOf(ADA))).rejects.toThrow('does not exist');
    expect(() => holds.ownOf(BOB, { id: 1, version: 1 })).toThrow('person:ada has approved 1');
    expect(holds.of({ id: 1, version: 1 } as Approval)).toMatchObject({ by: 'person:ada' });
  });

  it('report what was refused or failed, and run the rest', async () => {
    const plain = approve;
    approve = async (id, ...rest) => {
      if (id === 1) throw new ToolError('approval_state', 'Approval 1 is already rejected.');
      if (id === 2) throw new TypeError('a bug');
      return plain(id, ...rest);
    };
    holds.start(ADA, [item(1), item(2), item(3)]);
    expect(await holds.runNow(ADA, keyOf(ADA))).toMatchObject({
      results: [
        { id: 1, error: 'Approval 1 is already rejected.', code: 'approval_state' },
        { id: 2, code: 'internal' },
        { id: 3, state: 'done' },
      ],
    });
  });

  it('remember a limited number of results', async () => {
    for (let id = 1; id <= 250; id += 1) {
      holds.start(ADA, [item(id)]);
      holds.callOff(ADA, keyOf(ADA));
    }
    holds.start(ADA, [item(999)]);
    const left = holds.list(ADA);
    expect(left).toHaveLength(201);
    expect(left[0]?.items[0]?.id).toBe(51);
  });

  it('run nothing after the server stops, and wait for what runs', async () => {
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const plain = approve;
    approve = async (...given) => {
      await gate;
      return plain(...given);
    };
    holds.start(ADA, [item(1)]);
    const running = holds.runNow(ADA, keyOf(ADA));
    holds.start(ADA, [item(2)]);
    let closed = false;
    const closing = holds.close().then(() => {
      closed = true;
    });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(closed).toBe(false);
    expect(() => holds.start(ADA, [item(3)])).toThrow('stopping');
    release();
    await closing;
    expect(await running).toMatchObject({ state: 'ran' });
    expect(ran).toEqual([1]);
  });
});
