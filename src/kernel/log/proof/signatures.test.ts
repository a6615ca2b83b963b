import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Authenticator } from '../../../../test/support/authenticator.ts';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { openTestKernel, type TestKernel } from '../../../../test/support/kernel.ts';
import { verifyFile } from '../../../../test/support/second-verifier.ts';
import type { ProofFile } from '../../../contract/ports.ts';
import { type Entry, type EntryInput, prepareEntry } from '../entry.ts';
import { appendEntries } from '../log.ts';
import { Signer } from '../signing/signer.ts';
import { checkProof } from './check.ts';
import { checkBundle } from './check-bundle.ts';
import { type Bundle, exportRun } from './export.ts';
import { proveCall } from './prove.ts';

const SESSION = 's';

describe.each(ENGINES)('the proof of a signed call on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let proof: ProofFile;
  const key = new Authenticator();
  const spare = new Authenticator({ alg: -8 });
  const now = () => new Date('2026-03-01T12:00:00Z');

  beforeEach(async () => {
    store = await openTestStore(engine);
    const policy = { require_approval_for: ['ledger_write'] };
    test = await openTestKernel(store.database, store.dataDir, { policy, now });
    const { passkeys, signing, approvals } = test.kernel;
    const first = await passkeys.beginEnrolment(SESSION, key.key());
    await passkeys.finishEnrolment(SESSION, first.nonce, key.sign(first.challenge));
    const second = await passkeys.beginEnrolment(SESSION, spare.key());
    await passkeys.finishEnrolment(SESSION, second.nonce, spare.sign(second.challenge));
    await passkeys.finishCountersigned(SESSION, second.nonce, key.signAs(second.challenge));
    const order = await passkeys.beginOrder(SESSION, { action: 'mode', mode: 'always' });
    await passkeys.finishOrder(SESSION, order.nonce, key.signAs(order.challenge));
    const shown = [];
    for (const text of ['one', 'two']) {
      const { outcome } = await test.call('ledger_write', { text });
      const approval = outcome.status === 'routed' ? await approvals.get(outcome.approvalId) : undefined;
      if (approval) shown.push(approval);
    }
    const { nonce, challenge } = await signing.begin(SESSION, shown);
    const [done] = await signing.finish(SESSION, nonce, spare.signAs(challenge));
    await test.kernel.flush();
    const signer = await Signer.open(store.database, store.dataDir);
    const made = await proveCall(store.database, signer, done?.approval.callId ?? '', now);
    if (!made) throw new Error('The signed call has no proof.');
    proof = JSON.parse(JSON.stringify(made));
  });
  afterEach(() => store.close());

  const changed = (from: string, to: string): ProofFile => {
    const text = JSON.stringify(proof);
    expect(text).toContain(from);
    return JSON.parse(text.replaceAll(from, to));
  };

  it('names who signed it, by which key, without the store', () => {
    const who = { call: proof.call, person: 'person:ada' };
    expect(proof.format).toBe('countersign-proof/2');
    const report = checkProof(proof, { publicKeys: [proof.publicKey], signers: [key.fingerprint] });
    expect(report.problems).toEqual([]);
    expect(report.signers).toEqual([{ ...who, fingerprint: spare.fingerprint }]);
    expect(verifyFile(proof)).toEqual([{ ...who, key: spare.fingerprint }]);
  });

  it('says nothing about the other call of the batch', () => {
    const text = JSON.stringify(proof);
    const intents = [...proof.entries, ...(proof.support ?? [])].filter(({ body }) =>
      body.includes('"kind":"intent"'),
    );
    expect(intents).toHaveLength(1);
    expect(text.match(/"status\\*":\\*"approved/g)).toHaveLength(1);
  });

  it('fails for both verifiers when a signature, its key or the decision is changed or left out', () => {
    const support = proof.support ?? [];
    const without = (kind: string) => ({
      ...proof,
      support: support.filter(({ body }) => !body.includes(`"kind":"${kind}"`)),
    });
    for (const file of [
      without('signature'),
      without('passkey'),
      changed('person:ada', 'person:eve'),
      changed(spare.fingerprint, key.fingerprint),
    ]) {
      expect(checkProof(file).ok).toBe(false);
      expect(() => verifyFile(file)).toThrow();
    }
  });

  it('fails for a signer that the reader does not vouch for, and when the signatures were cut out', () => {
    const { problems } = checkProof(proof, { signers: ['0'.repeat(32)] });
    expect(problems.join()).toContain('is not one of the given signers');
    const { support: _, ...cut } = proof;
    expect(verifyFile(cut)).toEqual([]);
    expect(checkProof(cut, { signers: [key.fingerprint] }).problems).toEqual([
      `The file does not show who signed call ${proof.call}.`,
    ]);
  });

  it('names no signer for another call that the log puts under the signed approval', async () => {
    const { entry } = proof.entries
      .map(({ body }) => ({ entry: JSON.parse(body) as Entry }))
      .find(({ entry: { kind } }) => kind === 'intent') ?? { entry: undefined };
    if (!entry) throw new Error('The signed call has no intent.');
    const signer = await Signer.open(store.database, store.dataDir);
    const forged: [string, Partial<EntryInput>, string][] = [
      ['c-digest', { digest: 'f'.repeat(64) }, 'was given for another call'],
      ['c-tool', { tool: 'ledger_erase' }, 'was given for another call'],
      ['c-agent', { principal: 'agent:other' }, 'was given for another call'],
      ['c-part', { parent: proof.call, tool: 'ledger_erase', digest: 'f'.repeat(64) }, ''],
    ];
    for (const [call, changes, problem] of forged) {
      const { v: _, ...input } = { ...entry, ...changes, call };
      await store.database.write((trx) => appendEntries(trx, engine, [prepareEntry(input)]));
      const made = await proveCall(store.database, signer, call, now);
      const report = checkProof(JSON.parse(JSON.stringify(made)), { signers: [key.fingerprint] });
      expect(report.problems.join(), call).toContain(problem);
      expect(report.signers, call).toEqual([]);
      if (made) expect(verifyFile(made), call).toEqual([]);
    }
  });

  describe('an exported run', () => {
    const grace = new Authenticator({ alg: -257 });
    let bundle: Bundle;
    let calls: string[];

    const ask = async (text: string) => {
      const { outcome } = await test.call('ledger_write', { text, run_id: 'r1' });
      const found = outcome.status === 'routed' && (await test.kernel.approvals.get(outcome.approvalId));
      if (!found) throw new Error('It was not queued.');
      return found;
    };
    const sign = async (
      shown: readonly { id: number; version: number }[],
      by: Authenticator,
      person: string,
    ) => {
      const { nonce, challenge } = await test.kernel.signing.begin(SESSION, shown, { person });
      const done = await test.kernel.signing.finish(SESSION, nonce, by.signAs(challenge));
      return done.map(({ approval }) => approval.callId ?? '');
    };
    beforeEach(async () => {
      const { passkeys } = test.kernel;
      const third = await passkeys.beginEnrolment(SESSION, grace.key('person:grace'));
      await passkeys.finishEnrolment(SESSION, third.nonce, grace.sign(third.challenge));
      await passkeys.finishCountersigned(SESSION, third.nonce, spare.signAs(third.challenge));
      const [single] = await sign([await ask('alone')], key, 'person:ada');
      const batch = await sign([await ask('first'), await ask('second')], spare, 'person:ada');
      await test.setPolicy({
        rules: [
          { id: 'two', enabled: true, priority: 1, tools: ['ledger_write'], action: 'ask', signers: 2 },
        ],
      });
      const both = await ask('both');
      await sign([both], key, 'person:ada');
      const [last] = await sign([both], grace, 'person:grace');
      calls = [single ?? '', ...batch, last ?? ''];
      await test.kernel.flush();
      const signer = await Signer.open(store.database, store.dataDir);
      const made = await exportRun(store.database, 'r1', { artifacts: test.kernel.artifacts, signer, now });
      if (!made) throw new Error('The run has no entries.');
      bundle = JSON.parse(JSON.stringify(made));
    });

    it('names each signer for both verifiers: of one call, of a batch, and two of one call', () => {
      const ada = { person: 'person:ada' };
      const [single = '', first = '', second = '', last = ''] = calls;
      const expected = [
        { call: single, ...ada, key: key.fingerprint },
        { call: first, ...ada, key: spare.fingerprint },
        { call: second, ...ada, key: spare.fingerprint },
        { call: last, ...ada, key: key.fingerprint },
        { call: last, person: 'person:grace', key: grace.fingerprint },
      ];
      expect(bundle.format).toBe('countersign-bundle/2');
      const report = checkBundle(bundle, { publicKeys: [bundle.publicKey], signers: [key.fingerprint] });
      expect(report.problems).toEqual([]);
      expect(report.signers.map(({ fingerprint, ...who }) => ({ ...who, key: fingerprint }))).toEqual(
        expected,
      );
      expect(verifyFile(bundle)).toEqual(expected);
    });

    it('is refused by both verifiers when anything about its signatures was changed', () => {
      const support = bundle.support ?? [];
      const kindOf = (body: string): string => JSON.parse(body).kind;
      const variants: [string, Bundle][] = support.flatMap(({ seq, body }, at): [string, Bundle][] => {
        const left = [...support.slice(0, at), ...support.slice(at + 1)];
        const swapped = body.replace(/person:ada|"approved"/, 'person:eve');
        const moved = support.map((one) => (one.seq === seq ? { ...one, body: swapped } : one));
        return [
          // who signed is determined by all of these; a mode says nothing about it.
          ...(body.includes('"action":"mode"')
            ? []
            : [[`entry ${seq} left out`, { ...bundle, support: left }] as [string, Bundle]]),
          ...(swapped === body
            ? []
            : [
                [`entry ${seq} (${kindOf(body)}) changed`, { ...bundle, support: moved }] as [string, Bundle],
              ]),
        ];
      });
      const text = JSON.stringify(bundle);
      const signature = /\\"signature\\":\\"([\w-]{20})/.exec(text)?.[1] ?? '';
      variants.push([
        'a signature changed',
        JSON.parse(text.replace(signature, [...signature].toReversed().join(''))),
      ]);
      variants.push([
        'another key of the log',
        { ...bundle, publicKey: bundle.publicKey.replace(/.{6}$/, 'AAAAA=') },
      ]);
      expect(variants.length).toBeGreaterThan(12);
      for (const [what, file] of variants) {
        expect(checkBundle(file, { signers: [key.fingerprint] }).ok, what).toBe(false);
        const both = () => {
          const signers = verifyFile(file);
          if (signers.length < 5) throw new Error('a signer is missing');
        };
        expect(both, what).toThrow();
      }
    });
  });
});

it('the second verifier is short and shares no code with the product', () => {
  const text = readFileSync('test/support/second-verifier.ts', 'utf8');
  expect(text.split('\n').length).toBeLessThan(150);
  expect([...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from)).toEqual(['node:crypto']);
});
