import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import { verifyConsistency } from '../../../lib/merkle.ts';
import { type PreparedEntry, prepareEntry } from '../entry.ts';
import { appendEntries, payloadRow, sealPayload } from '../log.ts';
import type { StoredCheckpoint } from '../signing/checkpoint.ts';
import { checkProof } from './check.ts';
import { checkBundle } from './check-bundle.ts';
import { exportRun } from './export.ts';
import { consistencyProof, proveCall } from './prove.ts';

// More entries than two tiles of the tree have, and more calls than one query reads.
describe('a run of 600 calls', () => {
  const CALLS = 600;
  let store: TestStore;
  let scribe: LogScribe;
  const checkpoints: StoredCheckpoint[] = [];
  const nameOf = (n: number): string => `c${String(CALLS - n).padStart(3, '0')}`;

  beforeAll(async () => {
    store = await openTestStore('sqlite');
    scribe = await LogScribe.open(store.database, store.dataDir);
    const append = async (entries: readonly PreparedEntry[]) => {
      await store.database.write((trx) => appendEntries(trx, 'sqlite', entries));
      const checkpoint = await scribe.checkpoint();
      if (checkpoint) checkpoints.push(checkpoint);
    };
    const calls = Array.from({ length: CALLS }, (_, n) => {
      const args = sealPayload({ n });
      const fields = { at: scribe.now().toISOString(), call: nameOf(n), run: 'big', args: args.hash };
      return { entry: prepareEntry({ kind: 'read', ...fields }), args };
    });
    const rows = calls.map(({ entry, args }) => payloadRow(entry, 'args', args));
    await store.database.db.insertInto('audit_payloads').values(rows).execute();
    const entries = calls.map(({ entry }) => entry);
    // The first checkpoint also names its key, in an entry of its own.
    await append(entries.slice(0, 255));
    await append(entries.slice(255, 300));
    await append(entries.slice(300));
  });
  afterAll(() => store.close());

  it('is exported with all payloads in the order of its calls, and each entry is proven', async () => {
    const bundle = await exportRun(store.database, 'big', scribe);
    expect(bundle?.entries).toHaveLength(CALLS);
    const calls = bundle?.payloads.map(({ call }) => call);
    expect(calls).toEqual(Array.from({ length: CALLS }, (_, n) => nameOf(n)).reverse());
    expect(checkBundle(bundle).problems).toEqual([]);
  });

  it('has a proof for a call at either end of each tile', async () => {
    for (const n of [0, 254, 255, 256, 510, 511, 599]) {
      const proof = await proveCall(store.database, undefined, nameOf(n));
      expect(proof?.size, `${n}`).toBe(601);
      expect(checkProof(proof).problems, `${n}`).toEqual([]);
    }
  });

  it('is part of each later log', async () => {
    expect(checkpoints.map(({ size }) => size)).toEqual([256, 301, 601]);
    for (const older of checkpoints)
      for (const newer of checkpoints.filter(({ size }) => size >= older.size)) {
        const proof = await consistencyProof(store.database, older.size, newer.size);
        expect(verifyConsistency(older.size, newer.size, older.root, newer.root, proof)).toBe(true);
      }
  });

  it('is not proven when a node or an entry of its tree is missing', async () => {
    const isMissing = (node: string) =>
      expect(proveCall(store.database, undefined, nameOf(0))).rejects.toThrow(
        `Node ${node} is missing from the audit log's tree, so nothing can be proven.`,
      );
    await store.database.db.deleteFrom('audit_nodes').where('idx', '=', 1).execute();
    await isMissing('8/1');
    await store.database.db.deleteFrom('audit_log').where('seq', '=', 2).execute();
    await isMissing('1/1');
  });
});
