import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import { erasePayloads } from '../erase.ts';
import { signEnvelope } from '../signing/note.ts';
import { checkBundle } from './check-bundle.ts';
import { type Bundle, exportRun } from './export.ts';
import { proveEntries } from './prove.ts';

const RUN = 'r1';

describe('the check of an exported run', () => {
  let store: TestStore;
  let scribe: LogScribe;
  let bundle: Bundle;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
    scribe = await LogScribe.open(store.database, store.dataDir);
    const [kept, erased] = [
      await scribe.artifacts.write('kept.txt', 'text/plain', 'kept'),
      await scribe.artifacts.write('erased.txt', 'text/plain', 'erased'),
    ];
    await scribe.read('c1', RUN);
    await scribe.change('c2', { run: RUN, artifacts: [kept] });
    await scribe.change('c3', { run: RUN, artifacts: [erased] });
    const context = { artifacts: scribe.artifacts, principal: 'person:ada', now: scribe.now() };
    await erasePayloads(store.database, { calls: ['c3'] }, context);
    // Says the same of the other artifact, but is the result of a call and not an erasure.
    await scribe.write({ kind: 'call', call: 'c1', run: RUN, extra: { artifacts: [kept.id] } });
    // A part of a call belongs to the run of the call.
    await scribe.write({ kind: 'settled', call: 'c2' });
    await scribe.write({ kind: 'config', run: RUN });
    await scribe.read('c4', 'r2');
    await scribe.write({ kind: 'config' });
    await scribe.write({ kind: 'erasure' });
    const made = await exportRun(store.database, RUN, scribe);
    if (!made) throw new Error('nothing exported');
    bundle = made;
  });
  afterAll(() => store.close());

  const problemsOf = (changes: Partial<Bundle> | object, options = {}) => {
    const { ok, problems } = checkBundle({ ...bundle, ...changes }, options);
    expect(ok).toBe(problems.length === 0);
    return problems;
  };
  const payload = (call: string, kind: string) => {
    const found = bundle.payloads.find((one) => one.call === call && one.kind === kind);
    if (!found) throw new Error('no such payload');
    return found;
  };
  const withPayload = (call: string, kind: string, changes: object) => ({
    payloads: bundle.payloads.map((one) => (one === payload(call, kind) ? { ...one, ...changes } : one)),
  });

  it('is passed by the file as it was exported, with and without given keys', () => {
    const report = checkBundle(bundle);
    expect(report).toMatchObject({ ok: true, trusted: false, problems: [] });
    expect(report.entries.map(({ entry }) => entry.kind)).toEqual([
      ...['read', 'intent', 'outcome', 'intent', 'outcome', 'erasure', 'call', 'settled', 'config'],
    ]);
    const publicKeys = [`\n${scribe.signer.key.text} `];
    expect(checkBundle(bundle, { publicKeys })).toMatchObject({ ok: true, trusted: true, problems: [] });
  });

  it('reports nothing else when the entries themselves are not proven', () => {
    expect(checkBundle({ ...bundle, checkpoint: 'none', payloads: [] })).toMatchObject({
      ok: false,
      checkpoint: undefined,
      problems: ['The checkpoint is not a signed note.'],
    });
    const publicKey = 'x';
    expect(checkBundle({ ...bundle, publicKey }).problems).toEqual([expect.stringContaining('"x" is not')]);
  });

  it.each([
    ['another format', { format: 'countersign-proof/1' }],
    ['no run', { run: null }],
    ['no key of the statements', { statementKey: undefined }],
    ['a payload without its call', { payloads: [{}] }],
    ['an artifact without its ID', { artifacts: [{}] }],
    ['a statement without its signature', { statements: [{}] }],
    ['an entry without its text', { entries: [{}] }],
    ['no checkpoint', { checkpoint: undefined }],
    ['no public key', { publicKey: undefined }],
  ])('refuses a file with %s', (_, changes) => {
    expect(problemsOf(changes)).toEqual([expect.stringMatching(/^Not an exported run: \S/)]);
  });

  it('refuses entries that belong neither to the run nor to one of its calls', async () => {
    const rows = await store.database.db.selectFrom('audit_log').selectAll().orderBy('seq').execute();
    const others = rows.filter(({ run_id, kind }) => run_id !== RUN && ['read', 'config'].includes(kind));
    const proven = await proveEntries(store.database, scribe.signer, others);
    const problems = problemsOf({ entries: [...bundle.entries, ...proven.entries] });
    expect(problems).toContain('An entry of kind read does not belong to run r1.');
    expect(problems).toContain('An entry of kind config does not belong to run r1.');
    expect(problems.filter((one) => one.includes('does not belong'))).toHaveLength(2);
    // As support they are proven and nothing more: they count for neither membership nor the statements.
    expect(problemsOf({ format: 'countersign-bundle/2', support: proven.entries })).toEqual([]);
  });

  it('reads an erasure that does not say what it erased', async () => {
    const { db } = store.database;
    const rows = await db.selectFrom('audit_log').selectAll().where('kind', '=', 'erasure').execute();
    const proven = await proveEntries(store.database, scribe.signer, rows.slice(-1));
    expect(JSON.parse(proven.entries[0]?.body ?? '')).not.toHaveProperty('extra');
    expect(problemsOf({ entries: [...bundle.entries, ...proven.entries] })).toEqual([
      'Statement 1 does not match the entries.',
    ]);
  });

  it('refuses a payload that is not the one of its entry', () => {
    const { salt } = payload('c2', 'args');
    for (const [changes, problem] of [
      [
        withPayload('c2', 'args', { body: '{}' }),
        'The args payload of call c2 does not match the hash in the entry.',
      ],
      [
        withPayload('c2', 'args', { body: null }),
        'The args payload of call c2 is missing without an erasure.',
      ],
      [
        withPayload('c1', 'result', { salt }),
        'The result payload of call c1 has a different salt from the one used for the entry.',
      ],
      [
        withPayload('c2', 'result', { body: null, erasedAt: '2026-01-01T00:00:00.000Z' }),
        'The result payload of call c2 is missing, but no entry records an erasure at that time.',
      ],
      [
        { payloads: bundle.payloads.filter((one) => one !== payload('c1', 'args')) },
        'The args payload of call c1 is missing or has a different hash.',
      ],
      [
        { payloads: [...bundle.payloads, { ...payload('c1', 'args'), kind: 'result' }] },
        'No entry refers to the result payload of call c1.',
      ],
    ] as const)
      expect(problemsOf(changes)).toEqual([problem]);
  });

  it('refuses an erasure at the time of an entry that erases nothing', () => {
    const { entry } = checkBundle(bundle).entries.find(({ entry: { kind } }) => kind === 'settled') ?? {};
    expect(problemsOf(withPayload('c2', 'args', { body: null, erasedAt: entry?.at }))).toEqual([
      'The args payload of call c2 is missing, but no entry records an erasure at that time.',
    ]);
  });

  it('refuses an artifact that is not the one of its entry', () => {
    const [kept, erased] = bundle.artifacts;
    if (!kept || !erased) throw new Error('no artifacts');
    expect([kept.content, erased.content]).toEqual([Buffer.from('kept').toString('base64'), null]);
    const unknown = { ...kept, id: `sha256:${'0'.repeat(64)}` };
    for (const [artifacts, problems] of [
      [[{ ...kept, content: 'AAAA' }, erased], [`Artifact ${kept.id} was changed.`]],
      [
        [{ ...kept, content: null }, erased],
        [`Artifact ${kept.id} is missing, and no entry records its erasure.`],
      ],
      [[erased], [`Artifact ${kept.id} is missing.`]],
      [[kept, erased, kept], [`No entry refers to artifact ${kept.id}.`]],
      [
        [kept, erased, unknown],
        [`No entry refers to artifact ${unknown.id}.`, `Artifact ${unknown.id} was changed.`],
      ],
    ] as const)
      expect(problemsOf({ artifacts })).toEqual(problems);
  });

  it('accepts a file without statements only where no key claims them', () => {
    expect(problemsOf({ statements: [], statementKey: null })).toEqual([]);
    expect(problemsOf({ statementKey: null })).toEqual(['The statements name no key that signed them.']);
    const { id } = scribe.signer.key;
    expect(problemsOf({ statements: [] })).toEqual([`Statement 1 is missing or not signed by ${id}.`]);
    expect(problemsOf({ statementKey: 'x' })).toEqual(['The key of the statements is unreadable.']);
  });

  it('refuses statements of another type, of other entries, or more than the entries support', () => {
    const { signer } = scribe;
    const [statement] = bundle.statements;
    const text = Buffer.from(statement?.payload ?? '', 'base64').toString();
    const type = statement?.payloadType ?? '';
    for (const [statements, problem] of [
      [
        [signEnvelope('text/plain', text, signer)],
        `Statement 1 is missing or not signed by ${signer.key.id}.`,
      ],
      [[signEnvelope(type, `${text} `, signer)], 'Statement 1 does not match the entries.'],
      [[statement, statement], 'There are statements that the entries do not support.'],
    ] as const)
      expect(problemsOf({ statements })).toEqual([problem]);
    expect(problemsOf({ statements: [signEnvelope(type, text, signer)] })).toEqual([]);
  });

  it('refuses statements by a key other than the given ones', async () => {
    const other = await openTestStore('sqlite');
    const { signer } = await LogScribe.open(other.database, other.dataDir);
    await other.close();
    const statements = bundle.statements.map(({ payloadType, payload }) =>
      signEnvelope(payloadType, Buffer.from(payload, 'base64').toString(), signer),
    );
    const changes = { statements, statementKey: signer.key.text };
    expect(problemsOf(changes)).toEqual([]);
    expect(problemsOf(changes, { publicKeys: [bundle.publicKey] })).toEqual([
      'The statements are not signed by any of the given keys.',
    ]);
    expect(problemsOf(changes, { publicKeys: [bundle.publicKey, signer.key.text] })).toEqual([]);
  });
});
