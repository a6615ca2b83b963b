import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { ToolError } from '../../contract/errors.ts';
import type { Approval, ApprovalsPort, Log } from '../../contract/ports.ts';
import type { Principal } from '../../contract/principal.ts';
import { HoldBoard } from '../../kernel/views/hold-board.ts';
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

  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    vi.useFakeTimers();
    ran = [];
    published = 0;
    approve = async (id) => {
      ran.push(Number(id));
      await Promise.resolve();
      return { approval: { id: Number(id), state: 'done' } as Approval, outcome: undefined };
    };
    await store.database.db.deleteFrom('holds').execute();
    holds = openHolds();
  });
  afterEach(async () => {
    await holds.close();
    vi.useRealTimers();
  });
  const openHolds = (): Holds =>
    new Holds({
      approvals: { approve: (...given) => approve(...given) },
      seconds: 8,
      log: quiet,
      now: () => new Date(),
      board: new HoldBoard(store.database, () => new Date()),
      publish: async () => {
        published += 1;
      },
    });

  const keyOf = async (person: Principal): Promise<string> => (await holds.list(person)).at(-1)?.key ?? '';

  /** The database of these tests answers without a timer. */
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 500; turn += 1) await Promise.resolve();
  };

  it('run once when the time is over, and report each result briefly', async () => {
    await holds.start(ADA, [item(1), item(2)]);
    expect(await holds.list(ADA)).toMatchObject([
      { state: 'held', left_ms: 8000, hold_ms: 8000, results: [] },
    ]);
    await vi.advanceTimersByTimeAsync(7999);
    expect(ran).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await settle();
    expect(ran).toEqual([1, 2]);
    expect(await holds.list(ADA)).toMatchObject([
      { state: 'ran', left_ms: 0, results: [{ id: 1, state: 'done' }, { id: 2 }] },
    ]);
    // It began, it ran, it ended.
    expect(published).toBe(3);
    await vi.advanceTimersByTimeAsync(60_000);
    await settle();
    expect(await holds.list(ADA)).toEqual([]);
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
    await holds.start(ADA, [item(1)]);
    const key = await keyOf(ADA);
    const early = holds.runNow(ADA, key);
    await vi.advanceTimersByTimeAsync(20_000);
    const late = holds.runNow(ADA, key);
    await expect(holds.callOff(ADA, key)).rejects.toThrow('already running');
    release();
    for (const view of await Promise.all([early, late])) expect(view).toMatchObject({ state: 'ran' });
    expect(ran).toEqual([1]);

    await holds.start(ADA, [item(2)]);
    await vi.advanceTimersByTimeAsync(8000);
    expect(await holds.runNow(ADA, await keyOf(ADA))).toMatchObject({ state: 'ran', results: [{ id: 2 }] });
    expect(ran).toEqual([1, 2]);
  });

  it('run nothing that was called off, also if "run now" comes after it', async () => {
    await holds.start(ADA, [item(1)]);
    const key = await keyOf(ADA);
    expect(await holds.callOff(ADA, key)).toMatchObject({ state: 'called_off' });
    expect(await holds.callOff(ADA, key)).toMatchObject({ state: 'called_off' });
    await expect(holds.runNow(ADA, key)).rejects.toThrow('called off');
    await vi.advanceTimersByTimeAsync(20_000);
    expect(ran).toEqual([]);
    // It can be held again.
    await holds.start(ADA, [item(1)]);
    expect(await holds.list(ADA)).toMatchObject([{ state: 'called_off' }, { state: 'held' }]);
  });

  it('keep the first of two holds on the same version, and start another for an edited one', async () => {
    await holds.start(ADA, [item(1), item(2)]);
    await holds.start(ADA, [item(2), item(3)]);
    expect((await holds.list(ADA)).map(({ items }) => items.map(({ id }) => id))).toEqual([[1, 2], [3]]);
    expect((await holds.ownOf(ADA, { id: 2, version: 1 }))?.key).toBe((await holds.list(ADA))[0]?.key);
    expect(await holds.ownOf(ADA, { id: 2, version: 2 })).toBeUndefined();
    await holds.start(ADA, [item(2, 2)]);
    expect((await holds.ownOf(ADA, { id: 2, version: 2 }))?.key).toBe((await holds.list(ADA))[2]?.key);
  });

  it('belong to the person who approved', async () => {
    await holds.start(ADA, [item(1)]);
    expect(await holds.list(BOB)).toEqual([]);
    await expect(holds.callOff(BOB, await keyOf(ADA))).rejects.toThrow('does not exist');
    await expect(holds.runNow(BOB, await keyOf(ADA))).rejects.toThrow('does not exist');
    await expect(holds.ownOf(BOB, { id: 1, version: 1 })).rejects.toThrow('person:ada has approved 1');
    expect(await holds.of({ id: 1, version: 1 })).toMatchObject({ by: 'person:ada' });
  });

  it('report what was refused or failed, and run the rest', async () => {
    const plain = approve;
    approve = async (id, ...rest) => {
      if (id === 1) throw new ToolError('approval_state', 'Approval 1 is already rejected.');
      if (id === 2) throw new TypeError('a bug');
      return plain(id, ...rest);
    };
    await holds.start(ADA, [item(1), item(2), item(3)]);
    expect(await holds.runNow(ADA, await keyOf(ADA))).toMatchObject({
      results: [
        { id: 1, error: 'Approval 1 is already rejected.', code: 'approval_state' },
        { id: 2, code: 'internal' },
        { id: 3, state: 'done' },
      ],
    });
  });

  it('remember a limited number of results', async () => {
    for (let id = 1; id <= 250; id += 1) {
      await holds.start(ADA, [item(id)]);
      await holds.callOff(ADA, await keyOf(ADA));
    }
    await holds.start(ADA, [item(999)]);
    const left = await holds.list(ADA);
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
    await holds.start(ADA, [item(1)]);
    const running = holds.runNow(ADA, await keyOf(ADA));
    await holds.start(ADA, [item(2)]);
    let closed = false;
    const closing = holds.close().then(() => {
      closed = true;
    });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(closed).toBe(false);
    await expect(holds.start(ADA, [item(3)])).rejects.toThrow('stopping');
    release();
    await closing;
    expect(await running).toMatchObject({ state: 'ran' });
    expect(ran).toEqual([1]);
  });

  it('are shown and called off by another server on the same database, which runs none itself', async () => {
    const other = openHolds();
    await holds.start(ADA, [item(1)]);
    await holds.start(ADA, [item(2)]);
    const [first, second] = await other.list(ADA);
    expect(await other.list(BOB)).toEqual([]);
    expect(await other.of({ id: 1, version: 1 })).toMatchObject({ by: 'person:ada' });
    await expect(other.ownOf(BOB, { id: 1, version: 1 })).rejects.toThrow('person:ada has approved 1');
    await other.start(ADA, [item(1)]);
    expect(await other.list(ADA)).toHaveLength(2);
    expect(await other.callOff(ADA, first?.key ?? '')).toMatchObject({ state: 'called_off' });
    expect(await other.runNow(ADA, second?.key ?? '')).toMatchObject({ state: 'held' });
    await vi.advanceTimersByTimeAsync(8000);
    await settle();
    expect(ran).toEqual([2]);
    expect((await other.list(ADA)).map(({ state }) => state)).toEqual(['called_off', 'ran']);
    await expect(other.callOff(ADA, second?.key ?? '')).rejects.toThrow('already running');
    await holds.start(ADA, [item(3)]);
    await holds.close();
    expect(await other.of({ id: 3, version: 1 })).toBeUndefined();
    await other.close();
  });
});
