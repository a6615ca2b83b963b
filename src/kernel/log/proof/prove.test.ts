import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe, writeSampleLog } from '../../../../test/support/sample-log.ts';
import type { ProofFile } from '../../../contract/ports.ts';
import { leafHash, verifyConsistency } from '../../../lib/merkle.ts';
import { createAuditPort } from '../port.ts';
import { CheckpointWriter } from '../signing/checkpoint-writer.ts';
import { signNote } from '../signing/note.ts';
import { checkProof } from './check.ts';
import { consistencyProof, proveCall } from './prove.ts';

describe.each(ENGINES)('proofs on %s', (engine) => {
  let store: TestStore;
  let scribe: LogScribe;
  beforeEach(async () => {
    store = await openTestStore(engine);
    scribe = await LogScribe.open(store.database, store.dataDir);
    await writeSampleLog(scribe);
  });
  afterEach(() => store.close());

  const prove = async (call: string): Promise<ProofFile> => {
    const proof = await proveCall(store.database, scribe.signer, call, scribe.now);
    if (!proof) throw new Error(`no proof of ${call}`);
    return JSON.parse(JSON.stringify(proof)) as ProofFile;
  };

  it('hold for every call of the log, without the store', async () => {
    for (const letter of 'abcdefghi') {
      const proof = await prove(`call-${letter}`);
      const report = checkProof(proof, { publicKeys: [scribe.signer.key.text] });
      expect(report).toMatchObject({ ok: true, trusted: true, problems: [] });
      expect(report.entries.map(({ entry }) => entry.call)).toEqual(
        report.entries.map(() => `call-${letter}`),
      );
    }
  });

  it('hold for the intent and the outcome of a change, and the outcome has the evidence hash', async () => {
    const hash = await scribe.change('call-z');
    const proof = await prove('call-z');
    const { entries } = checkProof(proof);
    expect(entries.map(({ entry }) => entry.kind)).toEqual(['intent', 'outcome']);
    expect(leafHash(proof.entries[1]?.body ?? '')).toBe(hash);
  });

  it('reach an entry that no checkpoint covered yet by signing one', async () => {
    await scribe.read('fresh');
    const proof = await prove('fresh');
    expect(proof.size).toBe(18);
    expect(checkProof(proof).ok).toBe(true);
  });

  it('stay valid however the log grows', async () => {
    const proof = await prove('call-b');
    for (let n = 0; n < 40; n += 1) await scribe.read(`more-${n}`);
    expect(checkProof(proof, { publicKeys: [proof.publicKey] }).ok).toBe(true);
    expect(checkProof(await prove('call-b')).ok).toBe(true);
  });

  it('name the key that signed, also right after it was retired', async () => {
    await scribe.checkpoint();
    const { retired } = await scribe.signer.rotate(scribe.now());
    const proof = await prove('call-a');
    expect(proof.publicKey).toBe(retired.text);
    expect(checkProof(proof).ok).toBe(true);
  });

  it('do not exist for a call that left no entry', async () => {
    expect(await proveCall(store.database, scribe.signer, 'nobody')).toBeUndefined();
  });

  it('fail for every changed part of the file', async () => {
    const proof = await prove('call-e');
    const [first, ...rest] = proof.entries;
    if (!first) throw new Error('no entry');
    const changed: [string, unknown][] = [
      [
        'body',
        {
          ...proof,
          entries: [{ ...first, body: first.body.replace('agent:local', 'agent:other') }, ...rest],
        },
      ],
      ['seq', { ...proof, entries: [{ ...first, seq: first.seq + 1 }, ...rest] }],
      ['path', { ...proof, entries: [{ ...first, path: [...first.path].reverse() }, ...rest] }],
      ['size', { ...proof, size: proof.size + 1 }],
      ['call', { ...proof, call: 'call-b' }],
      [
        'checkpoint',
        { ...proof, checkpoint: proof.checkpoint.replace(`\n${proof.size}\n`, `\n${proof.size + 1}\n`) },
      ],
      ['key', { ...proof, publicKey: 'nonsense' }],
      ['entries', { ...proof, entries: [] }],
      ['format', { ...proof, format: 'other/1' }],
      ['everything', null],
    ];
    for (const [part, file] of changed) {
      expect(checkProof(file).ok, part).toBe(false);
      expect(checkProof(file).problems.length, part).toBeGreaterThan(0);
    }
  });

  it('are not believed when signed by a key other than the given ones', async () => {
    const proof = await prove('call-a');
    const other = await openTestStore('sqlite');
    const stranger = await LogScribe.open(other.database, other.dataDir);
    const report = checkProof(proof, { publicKeys: [stranger.signer.key.text] });
    await other.close();
    expect(report).toMatchObject({ ok: false, trusted: false });
    expect(report.problems[0]).toContain('not signed by a known key');
  });

  it('fail when the checkpoint is signed by the right key but speaks of another log', async () => {
    const proof = await prove('call-b');
    const { signer } = scribe;
    const [text = ''] = proof.checkpoint.split('\n\n');
    const foreign = signNote(`${text.replace(/^[^\n]+/, 'another/log')}\n`, signer);
    expect(checkProof({ ...proof, checkpoint: signNote(`${text}\n`, signer) }).ok).toBe(true);
    const report = checkProof({ ...proof, checkpoint: foreign }, { publicKeys: [signer.key.text] });
    expect(report.ok).toBe(false);
    expect(report.problems).toEqual(['The signed note is not a checkpoint of this log.']);
  });

  it('show that the log only grew between any two checkpoints', async () => {
    const rows = await store.database.db
      .selectFrom('audit_checkpoints')
      .selectAll()
      .orderBy('size')
      .execute();
    expect(rows.length).toBeGreaterThan(2);
    for (const older of rows) {
      for (const newer of rows.filter(({ size }) => size >= older.size)) {
        const proof = await consistencyProof(store.database, older.size, newer.size);
        expect(verifyConsistency(older.size, newer.size, older.root, newer.root, proof)).toBe(true);
      }
    }
  });

  it('say what is wrong when the tree has lost a node', async () => {
    await scribe.checkpoint();
    await store.database.db.deleteFrom('audit_log').where('kind', '=', 'config').execute();
    await expect(prove('call-a')).rejects.toThrow(/is missing from the audit log's tree.* audit verify/);
  });

  it.each([
    ['body', { body: '{"at":"2026","call":"call-e","kind":"read","v":1}' }, /does not match its hash/],
    ['text that is not JSON', { body: '{x' }, /does not match its hash/],
    ['hash', { hash: 'e'.repeat(64) }, /does not match its hash/],
    [
      'body with its hash',
      {
        body: '{"at":"2026","call":"call-e","kind":"read","v":1}',
        hash: leafHash('{"at":"2026","call":"call-e","kind":"read","v":1}'),
      },
      /is not in the tree that the last checkpoint signed/,
    ],
  ])('are not given for an entry with another %s, which is named', async (_, change, message) => {
    await scribe.checkpoint();
    const { seq } = (await prove('call-e')).entries[0] ?? { seq: -1 };
    await store.database.db.updateTable('audit_log').set(change).where('seq', '=', seq).execute();
    const failing = prove('call-e');
    await expect(failing).rejects.toThrow(message);
    await expect(failing).rejects.toThrow(`Entry ${seq} of the audit log`);
    // Only a changed hash spoils the paths of others.
    if (!('hash' in change)) await expect(prove('call-b')).resolves.toBeDefined();
  });

  it('are given by the port after what is still waiting was written', async () => {
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const writer = new CheckpointWriter({
      database: store.database,
      dataDir: store.dataDir,
      log,
      intervalMs: 1e6,
    });
    const waiting = ['late'];
    const port = createAuditPort(store.database, writer, async () => {
      for (const call of waiting.splice(0)) await scribe.read(call);
    });
    const proof = await port.proof('late');
    expect(checkProof(proof).ok).toBe(true);
    expect(await port.proof('unknown')).toBeUndefined();
    expect(await port.checkpoint()).toBe(proof?.checkpoint);
  });
});
