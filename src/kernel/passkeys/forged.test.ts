import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Authenticator } from '../../../test/support/authenticator.ts';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import type { JsonObject } from '../../contract/json.ts';
import { type Frontier, rootOf } from '../../lib/merkle.ts';
import { type Entry, type EntryInput, prepareEntry } from '../log/entry.ts';
import { appendEntries } from '../log/log.ts';
import { challengeOf, type EnrolStatement } from '../log/passkeys/statement.ts';
import { verifyLog } from '../log/verify/verify.ts';

const SESSION = 's';

// What someone with a shell, the database and the log can write. Each row of the attack table in docs/attacks.md is here.
describe.each(ENGINES)('a log that was written by an attacker, on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  const key = new Authenticator();
  let now: Date;

  beforeEach(async () => {
    now = new Date('2026-03-01T12:00:00Z');
    store = await openTestStore(engine);
    const policy = { require_approval_for: ['ledger_write'] };
    test = await openTestKernel(store.database, store.dataDir, { policy, now: () => now });
    const { passkeys } = test.kernel;
    const enrolment = await passkeys.beginEnrolment(SESSION, key.key());
    await passkeys.finishEnrolment(SESSION, enrolment.nonce, key.sign(enrolment.challenge));
    const order = await passkeys.beginOrder(SESSION, { action: 'mode', mode: 'always' });
    await passkeys.finishOrder(SESSION, order.nonce, key.signAs(order.challenge));
  });
  afterEach(() => store.close());

  const ask = async (text: string) => {
    const { outcome } = await test.call('ledger_write', { text });
    if (outcome.status !== 'routed') throw new Error(outcome.status);
    const approval = await test.kernel.approvals.get(outcome.approvalId);
    if (!approval) throw new Error('It was not queued.');
    return approval;
  };
  const sign = async (text: string) => {
    const approval = await ask(text);
    const { nonce, challenge } = await test.kernel.signing.begin(SESSION, [approval]);
    await test.kernel.signing.finish(SESSION, nonce, key.signAs(challenge));
    return approval;
  };
  const append = (...entries: EntryInput[]) =>
    store.database.write((trx) => appendEntries(trx, engine, entries.map(prepareEntry)));
  const entries = async (kind: string): Promise<{ hash: string; entry: Entry }[]> => {
    const rows = await store.database.db.selectFrom('audit_log').selectAll().orderBy('seq').execute();
    return rows
      .filter((row) => row.kind === kind)
      .map(({ hash, body }) => ({ hash, entry: JSON.parse(body) }));
  };
  const problems = async (options = {}) => {
    await test.kernel.flush();
    return (await verifyLog(store.database, options)).problems.map(({ message }) => message).join('\n');
  };
  /** Row and log both say that ada approved it. */
  const approveByHand = async (id: number, extra?: JsonObject) => {
    const row = await store.database.db
      .selectFrom('approvals')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const { uuid, digest, requester, tool, toolkit } = row;
    const approval = { uuid, digest, requester, approver: 'person:ada' };
    const at = now.toISOString();
    await append({
      kind: 'approval',
      at,
      tool,
      toolkit,
      principal: 'person:ada',
      digest,
      status: 'approved',
      approval,
      extra,
    });
    const decided = { state: 'approved', decided_by: 'person:ada', decided_at: at, version: row.version + 1 };
    await store.database.db.updateTable('approvals').set(decided).where('id', '=', id).execute();
  };

  /** What the server's upkeep does with a call that was approved and not run: it tries, and is refused. */
  const refusedByUpkeep = async (code: string) => {
    now = new Date(now.getTime() + 10 * 60_000);
    await test.kernel.recover();
    await test.kernel.flush();
    const rows = await store.database.db.selectFrom('audit_log').select('body').orderBy('seq').execute();
    const codes = rows.map(({ body }) => (JSON.parse(body) as Entry).code);
    expect(codes.filter((one) => one !== 'unavailable' && one !== undefined)).toEqual([code]);
  };

  it('is in order without one', async () => {
    await sign('hello');
    expect(await problems()).toBe('');
    expect(await test.lines()).toEqual(['hello']);
  });

  it('does not run a decision without a signature that row and log both have', async () => {
    const { id } = await ask('forged');
    await approveByHand(id);
    await refusedByUpkeep('signature_required');
    expect(await test.lines()).toEqual([]);
  });

  it('names a call that began without a signature', async () => {
    const { uuid, digest, id } = await ask('forged');
    await approveByHand(id);
    const approval = { uuid, digest, approver: 'person:ada' };
    const call = {
      call: 'c1',
      tool: 'ledger_write',
      toolkit: 'ledger',
      principal: 'agent:local',
      effect: 'change',
    };
    await append({ kind: 'intent', at: now.toISOString(), ...call, digest, decision: 'ask', approval });
    expect(await problems()).toContain('which requires a signature; it has none');
  });

  it('refuses and names a signature given for another call', async () => {
    const signed = await sign('real');
    const [made] = await entries('signature');
    const decision = (await entries('approval')).find(({ entry }) => entry.status === 'approved');
    const of = decision?.entry.extra?.signed as { item: JsonObject; by: { entry: string; salt: string }[] };
    const { id, uuid } = await ask('forged');
    await approveByHand(id, { signed: of });
    await refusedByUpkeep('approval_invalid');
    expect(made?.entry.principal).toBe('person:ada');
    expect(signed.uuid).not.toBe(uuid);
    expect(await test.lines()).toEqual(['real']);
    expect(await problems()).toContain('which its signature does not cover');
  });

  it('refuses and names a signature written a second time for a call that came back', async () => {
    const { outcome } = await test.call('ledger_write', { text: 'again', fail: 'before' });
    const id = outcome.status === 'routed' ? outcome.approvalId : 0;
    const approval = await test.kernel.approvals.get(id);
    if (!approval) throw new Error('It was not queued.');
    const { nonce, challenge } = await test.kernel.signing.begin(SESSION, [approval]);
    const [done] = await test.kernel.signing.finish(SESSION, nonce, key.signAs(challenge));
    expect(done?.approval.state).toBe('pending');
    // The same signature under another hash: an entry of another moment, still within its time.
    const [made] = await entries('signature');
    const at = new Date(now.getTime() + 1).toISOString();
    if (made) await append({ ...made.entry, at });
    const copy = (await entries('signature'))[1];
    const decision = (await entries('approval')).find(({ entry }) => entry.status === 'approved');
    const of = decision?.entry.extra?.signed as { item: JsonObject; by: { salt: string }[] };
    const by = [{ entry: copy?.hash ?? '', salt: of.by[0]?.salt ?? '' }];
    await approveByHand(id, { signed: { item: of.item, by } });
    await refusedByUpkeep('approval_invalid');
    expect(await problems()).toContain('repeats a signature used before');
  });

  it('names a call that began after the time it was signed for', async () => {
    const { uuid, digest } = await sign('real');
    const at = new Date(now.getTime() + 40 * 3_600_000).toISOString();
    const call = { call: 'c1', tool: 'ledger_write', toolkit: 'ledger', principal: 'agent:local' };
    const approval = { uuid, digest, approver: 'person:ada' };
    await append({ kind: 'intent', at, ...call, effect: 'change', digest, decision: 'ask', approval });
    expect(await problems()).toContain('which was signed until');
  });

  it('names a call under a standing approval while calls had to be signed', async () => {
    const call = { call: 'c1', tool: 'ledger_write', toolkit: 'ledger', principal: 'agent:local' };
    const extra = { standing: 'b2c4a1de-0000-4000-8000-000000000000' };
    await append({
      kind: 'intent',
      at: now.toISOString(),
      ...call,
      effect: 'change',
      decision: 'ask',
      extra,
    });
    expect(await problems()).toContain('although the call had to be signed');
  });

  it('does not find an intent that claims no approval was required', async () => {
    const call = { call: 'c1', tool: 'ledger_write', toolkit: 'ledger', principal: 'agent:local' };
    const digest = 'sha256:00';
    await append({
      kind: 'intent',
      at: now.toISOString(),
      ...call,
      effect: 'change',
      digest,
      decision: 'allow',
    });
    expect(await problems()).not.toMatch(/sign/);
  });

  it('does not find a call with other arguments under a signed permit', async () => {
    const { approvals, signing } = test.kernel;
    const requester = { kind: 'agent' as const, id: 'local' };
    const wanted = { tool: 'ledger_write', args: { text: 'allowed' }, requester, reason: 'please' };
    const permit = await approvals.propose({ ...wanted, kind: 'permit' });
    const { nonce, challenge } = await signing.begin(SESSION, [permit]);
    await signing.finish(SESSION, nonce, key.signAs(challenge));
    const call = { call: 'c1', tool: 'ledger_write', toolkit: 'ledger', principal: 'agent:local' };
    const approval = { uuid: permit.uuid, digest: permit.digest, approver: 'person:ada' };
    const of = { effect: 'change', decision: 'ask', digest: permit.digest, approval } as const;
    // Its digest is that of the permit, and what it really did is nowhere in the log.
    await append({ kind: 'intent', at: now.toISOString(), ...call, ...of });
    expect(await problems()).not.toMatch(/sign|permit/);
  });

  it('shows no approval whose reason or title was edited in its row', async () => {
    const { id } = await ask('kept');
    await store.database.db
      .updateTable('approvals')
      .set({ reason: 'Ada wants it' })
      .where('id', '=', id)
      .execute();
    const row = await test.kernel.approvals.get(id);
    expect(row).toMatchObject({ reason: 'Ada wants it', args: { text: 'kept' } });
    await expect(row && test.kernel.approvals.present(row)).rejects.toMatchObject({
      code: 'approval_invalid',
    });
    expect(await problems({ rows: true })).toContain(
      'has a title or content that differs from what the log says was shown',
    );
  });

  it('names a signature that is written a second time', async () => {
    await sign('real');
    const [made] = await entries('signature');
    if (made) await append({ ...made.entry, at: now.toISOString() });
    expect(await problems()).toContain('repeats a signature used before');
  });

  it('refuses and names a key that no enrolled key countersigned', async () => {
    const rogue = new Authenticator();
    const { person, ...shape } = rogue.key('person:ada', 'Rogue');
    const head = await store.database.db.selectFrom('audit_head').selectAll().executeTakeFirstOrThrow();
    const first = await store.database.db
      .selectFrom('audit_log')
      .select('hash')
      .where('seq', '=', 0)
      .executeTakeFirstOrThrow();
    const statement: EnrolStatement = {
      v: 'countersign-enrol/1',
      person,
      key: shape,
      log: first.hash,
      head: { size: head.size, root: rootOf(JSON.parse(head.frontier) as Frontier) },
      issued: now.toISOString(),
      until: new Date(now.getTime() + 1000).toISOString(),
      nonce: 'a'.repeat(22),
    };
    const possession = rogue.sign(challengeOf(statement).toString('base64url'));
    await append({
      kind: 'passkey',
      at: now.toISOString(),
      principal: person,
      extra: { action: 'enrol', statement, possession },
    });
    expect(await problems()).toContain('which no enrolled key countersigned');
    const { outcome } = await test.call('ledger_write', { text: 'next' });
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'approval_invalid' } });
  });

  it('names a history that was rewritten with all its hashes', async () => {
    await sign('real');
    const rows = await store.database.db.selectFrom('audit_log').selectAll().orderBy('seq').execute();
    const rewritten = rows.map(({ body }, seq): EntryInput => {
      const { v: _, ...entry } = JSON.parse(body) as Entry;
      return seq === 0 ? { ...entry, extra: { log: 'another' } } : entry;
    });
    for (const table of ['audit_log', 'audit_nodes'] as const)
      await store.database.db.deleteFrom(table).execute();
    await store.database.db.updateTable('audit_head').set({ size: 0, frontier: '[]' }).execute();
    await append(...rewritten);
    expect(await problems()).toMatch(/was signed for another log|was signed for a different history/);
  });

  it('fails for a signer the caller does not vouch for, and holds for one they do', async () => {
    await sign('real');
    expect(await problems({ signers: [key.fingerprint] })).toBe('');
    expect(await problems({ signers: ['0'.repeat(32)] })).toContain('none of the given signers vouches');
  });

  it('does not run a destructive call whose row says that it only changes', async () => {
    const order = await test.kernel.passkeys.beginOrder(SESSION, { action: 'mode', mode: 'destructive' });
    await test.setPolicy({ require_approval_for: ['ledger_write', 'ledger_erase'] });
    await sign('kept');
    // Asked for while the mode did not require a signature yet.
    const off = await test.kernel.passkeys.beginOrder(SESSION, { action: 'mode', mode: 'off' });
    await test.kernel.passkeys.finishOrder(SESSION, off.nonce, key.signAs(off.challenge));
    const { outcome } = await test.call('ledger_erase', { text: 'kept' });
    await test.kernel.passkeys.finishOrder(SESSION, order.nonce, key.signAs(order.challenge));
    const id = outcome.status === 'routed' ? outcome.approvalId : 0;
    const edited = { effect: 'change' as const };
    await store.database.db.updateTable('approvals').set(edited).where('id', '=', id).execute();
    await approveByHand(id);
    await refusedByUpkeep('signature_required');
    expect(await test.lines()).toEqual(['kept']);
  });

  it('signs nothing any more when entries about passkeys are gone from the log', async () => {
    const { id } = await ask('forged');
    for (const entry of ['"action":"mode"', '"action":"enrol"']) {
      const gone = store.database.db.deleteFrom('audit_log').where('body', 'like', `%${entry}%`);
      await gone.execute();
      await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({
        code: 'approval_invalid',
      });
      const { outcome } = await test.call('ledger_write', { text: 'next' });
      expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'approval_invalid' } });
    }
    expect(await test.lines()).toEqual([]);
    expect(await problems()).toMatch(/missing/);
  });

  it('names a part that began without the signature it had to have', async () => {
    const order = await test.kernel.passkeys.beginOrder(SESSION, { action: 'mode', mode: 'destructive' });
    await test.kernel.passkeys.finishOrder(SESSION, order.nonce, key.signAs(order.challenge));
    await test.setPolicy({ require_approval_for: ['ledger_batch'] });
    const { outcome } = await test.call('ledger_batch', { texts: ['part'] });
    const { approval: decided } = await test.kernel.approvals.approve(
      outcome.status === 'routed' ? outcome.approvalId : 0,
      PERSON,
    );
    const { uuid, digest, callId: parent } = decided;
    const call = { call: 'c1', tool: 'ledger_erase', toolkit: 'ledger', principal: 'agent:local' };
    const approval = { uuid, digest, approver: 'person:ada' };
    const at = now.toISOString();
    const of = { parent, effect: 'destroy', decision: 'ask', digest: 'sha256:00', approval } as const;
    await append({ kind: 'intent', at, ...call, ...of });
    expect(await problems()).toContain('which requires a signature; it has none');
  });

  it('finds that the log lacks the key of a given signer', async () => {
    expect(await problems({ signers: [key.fingerprint, '0'.repeat(32)] })).toContain(
      `The log has no key ${'0'.repeat(32)}`,
    );
  });

  it('accepts the receipt of a key that was removed later', async () => {
    await sign('first');
    const receipts = (await entries('signature')).map(({ entry }) => entry.extra ?? {});
    const spare = new Authenticator();
    const { passkeys } = test.kernel;
    const { nonce, challenge } = await passkeys.beginEnrolment(SESSION, spare.key());
    await passkeys.finishEnrolment(SESSION, nonce, spare.sign(challenge));
    await passkeys.finishCountersigned(SESSION, nonce, key.signAs(challenge));
    const order = await passkeys.beginOrder(SESSION, { action: 'remove', key: key.fingerprint });
    await passkeys.finishOrder(SESSION, order.nonce, spare.signAs(order.challenge));
    expect(await problems({ receipts })).toBe('');
    await passkeys.reset(PERSON);
    expect(await problems({ receipts })).toBe('');
  });

  it('shows by a kept receipt that the end of the log was cut', async () => {
    await sign('first');
    await sign('second');
    const made = await entries('signature');
    const receipts = made.map(({ entry }) => entry.extra ?? {});
    expect(await problems({ receipts })).toBe('');
    const statement = receipts[1]?.statement as { head: { size: number } };
    const cut = statement.head.size - 3;
    const keep = (await store.database.db.selectFrom('audit_log').selectAll().orderBy('seq').execute()).slice(
      0,
      cut,
    );
    for (const table of ['audit_log', 'audit_nodes'] as const)
      await store.database.db.deleteFrom(table).execute();
    await store.database.db.updateTable('audit_head').set({ size: 0, frontier: '[]' }).execute();
    await append(...keep.map(({ body }): EntryInput => JSON.parse(body)));
    expect(await problems({ receipts })).toContain('The log is not the one that was signed');
  });
});
