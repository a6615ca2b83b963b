import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Authenticator } from '../../../../test/support/authenticator.ts';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import { prepareEntry } from '../entry.ts';
import { erasePayloads } from '../erase.ts';
import { appendEntries } from '../log.ts';
import { signNote } from '../signing/note.ts';
import { checkProof } from './check.ts';
import { checkBundle } from './check-bundle.ts';
import { type ExportContext, exportRun } from './export.ts';
import { proveCall, proveEntries } from './prove.ts';
import { callEntry, enrolEntry, FIRST, signedEntries } from './signed.fixture.ts';

describe('a log with and without a signer', () => {
  let store: TestStore;
  let scribe: LogScribe;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    scribe = await LogScribe.open(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  const sizes = async () => {
    const { db } = store.database;
    const rows = await db.selectFrom('audit_checkpoints').select('size').orderBy('size').execute();
    return rows.map(({ size }) => size);
  };
  const replaceNote = (note: string) =>
    store.database.db.updateTable('audit_checkpoints').set({ note }).execute();
  const noSigner = (): ExportContext => ({ artifacts: scribe.artifacts });

  describe('is proven', () => {
    it('without a signer as far as it is signed, and no further', async () => {
      await scribe.read('a');
      const prove = (call: string) => proveCall(store.database, undefined, call);
      await expect(prove('a')).rejects.toThrow(
        'No checkpoint covers entry 0 yet. Run `countersign audit checkpoint` to sign one, then try again.',
      );
      await scribe.checkpoint();
      await scribe.read('b');
      expect(checkProof(await prove('a'))).toMatchObject({ ok: true, problems: [] });
      await expect(prove('b')).rejects.toThrow('No checkpoint covers entry 2 yet.');
      expect(await sizes()).toEqual([2]);
    });

    it('by a new checkpoint only where the last one does not reach', async () => {
      await scribe.write({ kind: 'config' });
      await scribe.checkpoint();
      await scribe.read('last');
      await scribe.checkpoint();
      await scribe.read('more');
      expect(await sizes()).toEqual([2, 3]);
      await proveCall(store.database, scribe.signer, 'last', scribe.now);
      expect(await sizes()).toEqual([2, 3]);
      const rows = await store.database.db
        .selectFrom('audit_log')
        .selectAll()
        .orderBy('seq', 'desc')
        .execute();
      const { entries, checkpoint } = await proveEntries(store.database, scribe.signer, rows);
      expect(checkpoint.size).toBe(4);
      expect(entries.map(({ seq }) => seq)).toEqual([3, 2, 1, 0]);
      expect(await sizes()).toEqual([2, 3, 4]);
    });

    it('by the key of the signer also when the database has forgotten it', async () => {
      await scribe.read('a');
      await scribe.checkpoint();
      await store.database.db.deleteFrom('settings').execute();
      expect(checkProof(await proveCall(store.database, scribe.signer, 'a')).ok).toBe(true);
      await expect(proveCall(store.database, undefined, 'a')).rejects.toThrow(
        'The last checkpoint is not signed by a known key',
      );
    });

    it('not by a checkpoint that was changed', async () => {
      await scribe.read('a');
      const checkpoint = await scribe.checkpoint();
      await replaceNote(checkpoint?.note.replace('\n2\n', '\n3\n') ?? '');
      await expect(proveCall(store.database, scribe.signer, 'a')).rejects.toMatchObject({
        code: 'db_error',
        message: 'The last checkpoint has an invalid signature. Run `countersign audit verify`.',
        retryable: false,
      });
    });
  });

  it('has nothing to prove or to export about what left no entry', async () => {
    await scribe.read('a', 'r1');
    await scribe.checkpoint();
    expect(await proveCall(store.database, scribe.signer, 'b')).toBeUndefined();
    expect(await exportRun(store.database, 'r2', scribe)).toBeUndefined();
    const plain = await proveCall(store.database, scribe.signer, 'a');
    expect(plain).toMatchObject({ format: 'countersign-proof/1' });
    expect(plain).not.toHaveProperty('support');
  });

  describe('is exported', () => {
    it('without a signer with its entries proven and nothing stated', async () => {
      await scribe.read('a', 'r1');
      await scribe.checkpoint();
      const now = () => new Date('2026-03-01T12:00:00Z');
      const bundle = await exportRun(store.database, 'r1', { ...noSigner(), now });
      expect(bundle).toMatchObject({
        format: 'countersign-bundle/1',
        run: 'r1',
        createdAt: '2026-03-01T12:00:00.000Z',
        size: 2,
        publicKey: scribe.signer.key.text,
        statementKey: null,
        statements: [],
      });
      expect(bundle && 'support' in bundle).toBe(false);
      expect(checkBundle(bundle)).toMatchObject({ ok: true, problems: [] });
      const later = await exportRun(store.database, 'r1', noSigner());
      expect(Date.parse(later?.createdAt ?? '')).toBeGreaterThan(now().getTime());
    });

    it('with the entries of its calls and of their erasure, in the order of the log', async () => {
      await scribe.read('a', 'r1');
      await scribe.write({ kind: 'settled', call: 'a' });
      await scribe.write({ kind: 'config', run: 'r1' });
      const context = { artifacts: scribe.artifacts, principal: 'person:ada', now: scribe.now() };
      await erasePayloads(store.database, { calls: ['a'] }, context);
      await scribe.read('other', 'r2');
      await scribe.write({ kind: 'config' });
      await scribe.read('b', 'r1');
      const bundle = await exportRun(store.database, 'r1', scribe);
      const kinds = bundle?.entries.map(({ body }) => JSON.parse(body).kind);
      expect(kinds).toEqual(['read', 'settled', 'config', 'erasure', 'read']);
      expect(bundle?.payloads.map(({ call, kind, erasedAt }) => [call, kind, erasedAt !== null])).toEqual([
        ['a', 'args', true],
        ['a', 'result', expect.any(Boolean)],
        ['b', 'args', false],
        ['b', 'result', false],
      ]);
      expect(checkBundle(bundle).problems).toEqual([]);
    });

    it('with the entries that show who signed its calls', async () => {
      const key = new Authenticator();
      const { signatures, decision } = signedEntries([{ key }]);
      const signed = [FIRST, enrolEntry(key), ...signatures, decision, callEntry({ run: 'r1' })];
      await store.database.write((trx) => appendEntries(trx, 'sqlite', signed.map(prepareEntry)));
      const bundle = await exportRun(store.database, 'r1', scribe);
      const proof = await proveCall(store.database, scribe.signer, 'c1');
      expect([bundle?.format, proof?.format]).toEqual(['countersign-bundle/2', 'countersign-proof/2']);
      for (const file of [bundle, proof]) {
        expect(file?.entries.map(({ seq }) => seq)).toEqual([4]);
        expect(file?.support?.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
      }
      for (const report of [checkBundle(bundle), checkProof(proof)])
        expect(report).toMatchObject({ problems: [], signers: [{ fingerprint: key.fingerprint }] });
    });

    it('with each artifact once, named where the log names it', async () => {
      const named = await scribe.artifacts.write('a.txt', 'text/plain', 'a');
      const plain = await scribe.artifacts.write('b.txt', 'text/plain', 'b');
      await scribe.write({ kind: 'call', run: 'r1', artifacts: [named, plain.id] });
      await scribe.write({ kind: 'call', run: 'r1', artifacts: [named.id] });
      const bundle = await exportRun(store.database, 'r1', scribe);
      expect(bundle?.artifacts).toEqual([
        { id: named.id, name: 'a.txt', mediaType: 'text/plain', content: 'YQ==' },
        { id: plain.id, name: null, mediaType: null, content: 'Yg==' },
      ]);
    });

    it('not by a signed note that is not a checkpoint', async () => {
      await scribe.read('a', 'r1');
      await scribe.checkpoint();
      await replaceNote(signNote('hello\n', scribe.signer));
      await expect(exportRun(store.database, 'r1', scribe)).rejects.toThrow(
        'The last checkpoint is unreadable. Run `countersign audit verify`.',
      );
    });
  });
});
