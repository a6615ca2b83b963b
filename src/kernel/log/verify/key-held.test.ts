import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import type { Entry } from '../entry.ts';
import { argsSalt } from '../rows/key-row.ts';
import { KeyRowCheck } from './key-rows.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-02T00:00:00.000Z';

describe('a key whose row is missing', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());

  type Said = Partial<Pick<Entry, 'kind' | 'status' | 'at'>> & {
    readonly key?: string | null;
    readonly late?: true;
  };
  const entry = ({ kind = 'intent', at = NOW, status, key, late }: Said): Entry => ({
    v: 1,
    at,
    call: 'c',
    kind,
    ...(status === undefined ? {} : { status }),
    extra: { ...(key === undefined ? {} : { replay_key: { hash: 'h', until: key } }), ...(late && { late }) },
  });
  const missing = async (said: readonly Said[]): Promise<string[]> => {
    const check = new KeyRowCheck();
    said.forEach((one, seq) => void check.take(seq, entry(one)));
    const faults = await check.compare(store.database);
    return faults.map(({ seq, message }) => `${seq} ${message}`);
  };
  const text = (seq: number, time: string): string =>
    `${seq} The idempotency key of call c is missing; the log says that the call holds it ${time}.`;

  it('is named with the entry that states it', async () => {
    expect(await missing([{ key: LATER }])).toEqual([text(0, `until ${LATER}`)]);
    expect(await missing([{ key: null }])).toEqual([text(0, 'and does not expire')]);
    expect(await missing([{ key: LATER }, { kind: 'outcome', status: 'ok' }])).toHaveLength(1);
    expect(await missing([{ key: LATER }, { kind: 'outcome', status: 'indeterminate' }])).toHaveLength(1);
    expect(await missing([{}, { kind: 'settled', status: 'ok', key: LATER, late: true }])).toEqual([
      text(1, `until ${LATER}`),
    ]);
    expect(await missing([{ key: LATER }, {}])).toHaveLength(1);
  });

  it('is fine where no entry states that a call holds it', async () => {
    expect(await missing([{}])).toEqual([]);
    expect(await missing([{ kind: 'read', key: LATER }])).toEqual([]);
  });

  it('is fine once its call has freed it', async () => {
    expect(await missing([{ key: LATER }, { kind: 'outcome', status: 'failed' }])).toEqual([]);
    expect(await missing([{ key: LATER }, { kind: 'settled', status: 'failed' }])).toEqual([]);
    expect(await missing([{ key: LATER }, { kind: 'settled', status: 'ok', late: true }])).toEqual([]);
    // What is no end of the call frees nothing.
    expect(await missing([{ key: LATER }, { kind: 'read', status: 'failed' }])).toHaveLength(1);
  });

  it('is fine once the log has an entry from after its end, and not because a clock says so', async () => {
    expect(await missing([{ key: NOW }])).toEqual([]);
    expect(await missing([{ key: LATER }])).toHaveLength(1);
    expect(await missing([{ key: LATER }, { kind: 'config', at: LATER }])).toEqual([]);
  });

  it('has no salt where its call stored none', async () => {
    expect(await argsSalt(store.database.db, 'none')).toBe('');
  });
});
