import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe, writeSampleLog } from '../../../../test/support/sample-log.ts';
import { erasePayloads } from '../erase.ts';
import { checkBundle } from './check-bundle.ts';
import { type Bundle, exportRun } from './export.ts';

describe.each(ENGINES)('an exported run on %s', (engine) => {
  let store: TestStore;
  let scribe: LogScribe;
  beforeEach(async () => {
    store = await openTestStore(engine);
    scribe = await LogScribe.open(store.database, store.dataDir);
    await writeSampleLog(scribe);
  });
  afterEach(() => store.close());

  const bundle = async (): Promise<Bundle> => {
    const made = await exportRun(store.database, 'run-1', scribe);
    if (!made) throw new Error('nothing exported');
    return JSON.parse(JSON.stringify(made)) as Bundle;
  };
  const statement = (file: Bundle, index: number) =>
    JSON.parse(Buffer.from(file.statements[index]?.payload ?? '', 'base64').toString());

  it('holds every entry of the run, refusals and approvals included, and checks without the store', async () => {
    const file = await bundle();
    const report = checkBundle(file, { publicKeys: [file.publicKey, file.statementKey ?? ''] });
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ ok: true, trusted: true });
    expect(report.entries.map(({ entry }) => entry.kind)).toEqual([
      'read',
      'refusal',
      'routed',
      'approval',
      'approval',
      'intent',
      'outcome',
      'read',
    ]);
    expect(file.payloads.filter(({ body }) => body !== null)).toHaveLength(6);
    expect(file.artifacts.map(({ name }) => name)).toEqual(['fix.patch', 'stdout.log']);
    expect(Buffer.from(file.artifacts[1]?.content ?? '', 'base64').toString()).toBe('all tests passed\n');
  });

  it('is not made, and nothing is signed, when one of its entries was changed', async () => {
    const { seq } = (await bundle()).entries[1] ?? { seq: -1 };
    const { db } = store.database;
    for (const body of ['{x', '{"at":"2026","kind":"refusal","run":"run-1","v":1}']) {
      await db.updateTable('audit_log').set({ body }).where('seq', '=', seq).execute();
      await expect(bundle()).rejects.toThrow(`Entry ${seq} of the audit log does not match its hash`);
    }
  });

  it('states the run and its test result as in-toto does, about the git tree', async () => {
    const file = await bundle();
    expect(file.statements.map(({ payloadType }) => payloadType)).toEqual([
      'application/vnd.in-toto+json',
      'application/vnd.in-toto+json',
    ]);
    expect(statement(file, 0)).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'run/run-1' }, { digest: { sha256: expect.any(String) } }, {}],
      predicate: { run: 'run-1', log: { size: file.size } },
    });
    expect(statement(file, 1)).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'tree', digest: { gitTree: '4b825dc642cb6eb9a060e54bf8d69288fbee4904' } }],
      predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
      predicate: {
        result: 'PASSED',
        configuration: [{ name: 'post', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } }],
        passedTests: ['unit'],
      },
    });
  });

  it('still checks after payloads and artifacts were erased, and says so', async () => {
    const context = { artifacts: scribe.artifacts, principal: 'person:ada', now: scribe.now() };
    await erasePayloads(store.database, { calls: ['call-e', 'call-a'] }, context);
    const file = await bundle();
    expect(checkBundle(file).problems).toEqual([]);
    expect(file.artifacts.map(({ content }) => content)).toEqual([null, null]);
    expect(file.payloads.filter(({ erasedAt }) => erasedAt !== null)).toHaveLength(4);
    expect(checkBundle(file).entries.at(-1)?.entry.kind).toBe('erasure');
  });

  it('may be of a run without calls', async () => {
    await scribe.write({ kind: 'config', run: 'run-2' });
    const made = await exportRun(store.database, 'run-2', scribe);
    expect(made).toMatchObject({ entries: [{ seq: 17 }], payloads: [] });
    expect(checkBundle(made).problems).toEqual([]);
  });

  it('does not exist for a run that left no entry', async () => {
    expect(await exportRun(store.database, 'no such run', scribe)).toBeUndefined();
  });

  it('fails when any part of it is changed, removed or added', async () => {
    const file = await bundle();
    const [payload, ...payloads] = file.payloads;
    const [artifact, ...artifacts] = file.artifacts;
    const [envelope, ...envelopes] = file.statements;
    const [entry, ...entries] = file.entries;
    if (!payload || !artifact || !envelope || !entry) throw new Error('the bundle is empty');
    const last = file.payloads.findIndex(({ body }) => body !== null);
    const gone = file.payloads.map((one, index) => (index === last ? { ...one, body: null } : one));
    const stranger = await openTestStore('sqlite');
    const other = await LogScribe.open(stranger.database, stranger.dataDir);
    await stranger.close();
    const changes: [string, unknown, RegExp][] = [
      ['an entry is left out', { ...file, entries }, /refers to|does not match the entries/],
      [
        'an entry is changed',
        { ...file, entries: [{ ...entry, body: entry.body.replace('read', 'raed') }, ...entries] },
        /not in the signed log/,
      ],
      [
        'a payload is changed',
        { ...file, payloads: file.payloads.map((one) => ({ ...one, body: one.body && `${one.body} ` })) },
        /does not match the hash/,
      ],
      ['a payload is left out', { ...file, payloads }, /is missing/],
      [
        'a payload is added',
        { ...file, payloads: [...file.payloads, { ...payload, call: 'x' }] },
        /No entry refers to the/,
      ],
      ['a payload is emptied', { ...file, payloads: gone }, /missing without an erasure/],
      [
        'a payload pretends to be erased',
        { ...file, payloads: gone.map((one) => (one.body === null ? { ...one, erasedAt: 'now' } : one)) },
        /no entry records an erasure/,
      ],
      [
        'an artifact is changed',
        { ...file, artifacts: [{ ...artifact, content: 'aGVsbG8=' }, ...artifacts] },
        /was changed/,
      ],
      ['an artifact is left out', { ...file, artifacts }, /is missing/],
      [
        'an artifact pretends to be erased',
        { ...file, artifacts: [{ ...artifact, content: null }, ...artifacts] },
        /no entry records its erasure/,
      ],
      ['a statement is left out', { ...file, statements: [envelope] }, /Statement 2 is missing/],
      ['a statement is added', { ...file, statements: [...file.statements, envelope] }, /do not support/],
      [
        'statements are swapped',
        { ...file, statements: [...envelopes, envelope] },
        /does not match the entries/,
      ],
      [
        'the signature of a statement is changed',
        { ...file, statements: [{ ...envelope, signatures: [{ sig: 'AAAA' }] }, ...envelopes] },
        /not signed by/,
      ],
      [
        'another key claims the statements',
        { ...file, statementKey: other.signer.key.text },
        /not signed by/,
      ],
      ['the key of the statements is damaged', { ...file, statementKey: 'x' }, /is unreadable/],
      ['it claims to be another run', { ...file, run: 'run-2' }, /does not belong to run run-2/],
      ['it is something else', { hello: 1 }, /Not an exported run/],
    ];
    for (const [what, changed, message] of changes) {
      const report = checkBundle(changed);
      expect(report.ok, what).toBe(false);
      expect(report.problems.join('\n'), what).toMatch(message);
    }
  });
});
