import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import type { AuditPayloadsTable } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';
import { sealPayload } from '../log.ts';
import { PayloadCheck } from './payloads.ts';
import { Problems } from './report.ts';

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-02T00:00:00.000Z';

describe('payloads against their entries', () => {
  let store: TestStore;
  let problems: Problems;
  let check: PayloadCheck;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());
  beforeEach(() => {
    problems = new Problems();
    check = new PayloadCheck(store.database, problems);
  });
  afterEach(() => store.database.db.deleteFrom('audit_payloads').execute());

  const messages = () => problems.list.map(({ message }) => message);
  const insert = (...rows: AuditPayloadsTable[]) =>
    store.database.db.insertInto('audit_payloads').values(rows).execute();
  const entry = (call: string | undefined, more: Partial<Entry> = {}): Entry => ({
    v: 1,
    kind: 'read',
    at: AT,
    call,
    ...more,
  });
  const rowOf = (
    call_id: string,
    sealed: ReturnType<typeof sealPayload>,
    more: Partial<AuditPayloadsTable> = {},
  ): AuditPayloadsTable => ({ call_id, kind: 'args', ...sealed, at: AT, erased_at: null, ...more });

  /** What verify says of one call whose stored arguments are like this. */
  async function problemsOf(more: Partial<AuditPayloadsTable>, keep = true): Promise<string[]> {
    const sealed = sealPayload({ text: 'hi' }, { keep });
    await insert(rowOf('a', sealed, more));
    check.take(4, entry('a', { args: sealed.hash }));
    await check.checkPage();
    return messages();
  }

  it('are counted by whether they were kept', async () => {
    const [args, result, unkept] = [sealPayload(1), sealPayload(2), sealPayload(3, { keep: false })];
    await insert(rowOf('a', args), rowOf('a', result, { kind: 'result' }), rowOf('b', unkept));
    check.take(0, entry('a', { args: args.hash, result: result.hash }));
    check.take(1, entry('b', { args: unkept.hash }));
    check.take(2, entry('c'));
    await check.checkPage();
    expect(messages()).toEqual([]);
    expect(check.counts).toEqual({ verified: 2, unkept: 1, erased: 0 });
    check.add(10, 20);
    expect(check.counts).toEqual({ verified: 12, unkept: 21, erased: 0 });
    expect(check.total).toBe(33);
  });

  it('are compared once', async () => {
    expect(await problemsOf({})).toEqual([]);
    await store.database.db.deleteFrom('audit_payloads').execute();
    await check.checkPage();
    expect(messages()).toEqual([]);
    expect(check.counts).toEqual({ verified: 1, unkept: 0, erased: 0 });
  });

  it('are not looked for where an entry is about no call', async () => {
    check.take(0, entry(undefined, { args: 'sha256:0', result: 'sha256:1' }));
    await check.checkPage();
    expect(messages()).toEqual([]);
  });

  it('are named when none is stored', async () => {
    check.take(4, entry('a', { args: 'sha256:0', result: 'sha256:1' }));
    await check.checkPage();
    expect(problems.list).toEqual([
      { code: 'payload', seq: 4, message: 'Entry 4: the args payload of call a is not stored.' },
      { code: 'payload', seq: 4, message: 'Entry 4: the result payload of call a is not stored.' },
    ]);
  });

  it.each<[string, Partial<AuditPayloadsTable>, boolean]>([
    ['is stored with a different hash from the one in the entry', { hash: 'sha256:0' }, true],
    [`is stored with the time ${LATER}, but the entry has ${AT}`, { at: LATER }, true],
    ['is marked erased, but the body is still there', { erased_at: LATER }, true],
    ['does not match the hash in the entry: body or salt was changed', { body: '{}' }, true],
    ['does not match the hash in the entry: body or salt was changed', { salt: 'x' }, true],
    ['is marked erased, but the salt is still there', { body: null, erased_at: LATER }, true],
    ['was stored, but is missing without an erasure', { body: null }, true],
    ['was stored, but is missing without an erasure', { body: null, salt: '' }, true],
    ['has a different salt from the one used for the entry', { salt: 'x' }, false],
  ])('are named when one %s (%o)', async (fault, more, keep) => {
    expect(await problemsOf(more, keep)).toEqual([`Entry 4: the args payload of call a ${fault}.`]);
    expect(check.total).toBe(0);
  });

  it.each([true, false])('are found although a line break in the id hides them (kept: %s)', async (keep) => {
    const sealed = sealPayload({ text: 'hi' }, { keep });
    await insert(rowOf('a\nb', sealed));
    check.take(0, entry('a\nb', { args: sealed.hash }));
    await check.checkPage();
    expect(messages()).toEqual([]);
    expect(check.counts).toEqual({ verified: keep ? 1 : 0, unkept: keep ? 0 : 1, erased: 0 });
  });

  it('that are in order are not counted again when others on the page are not', async () => {
    const [one, other] = [sealPayload(1), sealPayload(2)];
    await insert(rowOf('a', one), rowOf('b', other, { salt: 'x' }));
    check.take(0, entry('a', { args: one.hash }));
    check.take(1, entry('b', { args: other.hash }));
    await check.checkPage();
    expect(problems.list.map(({ seq }) => seq)).toEqual([1]);
    expect(check.counts).toEqual({ verified: 1, unkept: 0, erased: 0 });
  });

  it('cannot be vouched for by the payload of another call, whatever line breaks they have', async () => {
    const sealed = sealPayload({ text: 'hi' });
    await insert(rowOf('a', sealed), rowOf('x\na', sealed, { salt: `x\n${sealed.salt}`, body: sealed.body }));
    check.take(0, entry('a', { args: sealed.hash }));
    check.take(1, entry('x\na', { args: sealed.hash }));
    await check.checkPage();
    expect(problems.list).toEqual([expect.objectContaining({ code: 'payload', seq: 1 })]);
    expect(check.total).toBe(1);
  });

  it('are all named, however many are damaged', async () => {
    const count = 501;
    for (let n = 0; n < count; n += 1) check.take(n, entry(`call-${n}`, { args: 'sha256:0' }));
    const sealed = sealPayload(1);
    await insert(rowOf('call-0', sealed), rowOf(`call-${count - 1}`, sealed));
    await check.checkPage();
    expect(problems.list.length + problems.more).toBe(count);
    expect(problems.list[0]?.message).toContain('is stored with a different hash');
    const last = new PayloadCheck(store.database, problems);
    last.take(0, entry(`call-${count - 1}`, { args: sealed.hash }));
    await last.checkPage();
    expect(problems.list.length + problems.more).toBe(count);
  });

  describe('that were erased', () => {
    const erased = { body: null, salt: '', erased_at: LATER };
    const erasure = (payloads: unknown, at = LATER): Entry => ({
      v: 1,
      kind: 'erasure',
      at,
      extra: typeof payloads === 'number' ? { payloads } : {},
    });
    const wipe = async (...calls: string[]) => {
      const sealed = sealPayload(1);
      await insert(...calls.map((call) => rowOf(call, sealed, erased)));
      for (const [seq, call] of calls.entries()) check.take(seq, entry(call, { args: sealed.hash }));
      await check.checkPage();
      expect(messages()).toEqual([]);
    };

    it('must be as many as the log says were erased at that time', async () => {
      await wipe('a', 'b', 'c');
      check.take(5, erasure(2));
      check.take(6, erasure(1));
      check.take(7, erasure(9, AT));
      check.finish([]);
      expect(messages()).toEqual([]);
      expect(check.counts).toEqual({ verified: 0, unkept: 0, erased: 3 });
      expect(check.total).toBe(3);
    });

    it('are named when the log says that fewer or more were', async () => {
      await wipe('a', 'b');
      check.take(5, erasure(1));
      check.finish([]);
      check.take(6, erasure(2));
      check.finish([]);
      const message = (logged: number) =>
        `2 payloads say they were erased at ${LATER}, but the log says ${logged} were.`;
      expect(problems.list).toEqual([
        { code: 'payload', seq: 0, message: message(1) },
        { code: 'payload', seq: 0, message: message(3) },
      ]);
    });

    it('are named when the log knows of no erasure at that time', async () => {
      await wipe('a');
      check.take(5, erasure(1, AT));
      check.finish([erasure(1, AT)]);
      expect(messages()).toEqual([
        `A payload of entry 0 says it was erased at ${LATER}, but the log has no record of an erasure at that time.`,
      ]);
    });

    it('need an erasure that says how many', async () => {
      await wipe('a');
      check.take(5, erasure('one'));
      check.take(6, { v: 1, kind: 'erasure', at: LATER });
      check.take(7, { v: 1, kind: 'config', at: LATER, extra: { payloads: 1 } });
      check.finish([]);
      expect(messages()).toEqual([`1 payloads say they were erased at ${LATER}, but the log says 0 were.`]);
    });

    it('may have been erased while the log was read', async () => {
      await wipe('a');
      check.finish([erasure(1, AT), erasure(1)]);
      expect(messages()).toEqual([]);
    });
  });
});
