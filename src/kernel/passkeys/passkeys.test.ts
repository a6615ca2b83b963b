import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Alg, Authenticator } from '../../../test/support/authenticator.ts';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { principalName } from '../../contract/principal.ts';
import { verifyLog } from '../log/verify/verify.ts';

const SESSION = 'session-of-ada';

describe.each(ENGINES)('passkeys on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let clock: Date;
  let key: Authenticator;

  const open = async (options = {}) => {
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
      now: () => clock,
      ...options,
    });
  };
  beforeEach(async () => {
    clock = new Date('2026-03-01T12:00:00Z');
    key = new Authenticator();
    store = await openTestStore(engine);
    await open();
  });
  afterEach(async () => {
    await test.kernel.flush();
    expect((await verifyLog(store.database)).problems).toEqual([]);
    await store.close();
  });

  const routed = (outcome: Outcome): number => {
    if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
    return outcome.approvalId;
  };
  const ask = async (text = 'hello') => routed((await test.call('ledger_write', { text })).outcome);
  const enrol = async (one: Authenticator, person = 'person:ada') => {
    const { nonce, challenge } = await test.kernel.passkeys.beginEnrolment(SESSION, one.key(person));
    return test.kernel.passkeys.finishEnrolment(SESSION, nonce, one.sign(challenge));
  };
  const enrolSecond = async (one: Authenticator, by: Authenticator, person = 'person:ada') => {
    const pending = await enrol(one, person);
    if (!('challenge' in pending)) throw new Error('It was enrolled without a countersignature.');
    return test.kernel.passkeys.finishCountersigned(SESSION, pending.nonce, by.signAs(pending.challenge));
  };
  const setMode = async (mode: 'off' | 'destructive' | 'always', by = key) => {
    const { nonce, challenge } = await test.kernel.passkeys.beginOrder(SESSION, { action: 'mode', mode });
    return test.kernel.passkeys.finishOrder(SESSION, nonce, by.signAs(challenge));
  };
  const shown = async (...ids: number[]) =>
    Promise.all(
      ids.map(async (id) => ({ id, version: (await test.kernel.approvals.get(id))?.version ?? 0 })),
    );
  const sign = async (by: Authenticator, ...ids: number[]) => {
    const { nonce, challenge } = await test.kernel.signing.begin(SESSION, await shown(...ids));
    return test.kernel.signing.finish(SESSION, nonce, by.signAs(challenge));
  };

  it.each<[string, Alg]>([
    ['ES256', -7],
    ['EdDSA', -8],
    ['RS256', -257],
  ])('a key of kind %s is enrolled, and its signature runs exactly the call it is on', async (_, alg) => {
    key = new Authenticator({ alg });
    expect(await enrol(key)).toMatchObject({ fingerprint: key.fingerprint, person: 'person:ada' });
    await setMode('always');
    const id = await ask();
    await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({
      code: 'signature_required',
    });
    expect(await test.lines()).toEqual([]);
    const [signed] = await sign(key, id);
    expect(signed).toMatchObject({ approval: { state: 'done' }, decided: { outcome: { status: 'ok' } } });
    expect(await test.lines()).toEqual(['hello']);
  });

  it('the first key needs no other, every later one a key that is enrolled', async () => {
    await enrol(key);
    const second = new Authenticator();
    const stranger = new Authenticator();
    await expect(enrolSecond(second, stranger)).rejects.toMatchObject({ code: 'signature_invalid' });
    expect((await test.kernel.passkeys.state()).keys.list).toHaveLength(1);
    expect(await enrolSecond(second, key)).toMatchObject({ endorsedBy: key.fingerprint });
    await expect(enrol(second)).rejects.toMatchObject({ code: 'approval_state' });
  });

  it('one signature decides a batch; each item is its own decision', async () => {
    await enrol(key);
    await setMode('always');
    const ids = [await ask('one'), await ask('two'), await ask('three')];
    expect(await sign(key, ...ids)).toHaveLength(3);
    expect((await test.lines()).sort()).toEqual(['one', 'three', 'two']);
  });

  it('two signers are two people, not two keys of one', async () => {
    const rule = { id: 'two', tools: ['ledger_write'], action: 'ask' as const, signers: 2 };
    await open({ policy: { rules: [rule] } });
    const [spare, grace] = [new Authenticator(), new Authenticator()];
    await enrol(key);
    await enrolSecond(spare, key);
    const id = await ask();
    expect(await sign(key, id)).toMatchObject([{ approval: { state: 'pending' }, required: 2 }]);
    await expect(sign(spare, id)).rejects.toMatchObject({ code: 'signature_required' });
    await enrolSecond(grace, spare, 'person:grace');
    expect(await test.lines()).toEqual([]);
    expect(await sign(grace, id)).toMatchObject([
      { approval: { state: 'done' }, signed: ['person:ada', 'person:grace'] },
    ]);
    expect(await test.lines()).toEqual(['hello']);
  });

  it('a call that was edited needs a new signature, and the edited call is what runs', async () => {
    await enrol(key);
    await setMode('always');
    const id = await ask();
    const { nonce, challenge } = await test.kernel.signing.begin(SESSION, await shown(id));
    await test.kernel.approvals.edit(id, PERSON, { text: 'edited' });
    await expect(test.kernel.signing.finish(SESSION, nonce, key.signAs(challenge))).rejects.toMatchObject({
      code: 'approval_state',
    });
    expect(await test.lines()).toEqual([]);
    await sign(key, id);
    expect(await test.lines()).toEqual(['edited']);
  });

  it('of two first keys that enrol at the same time, one must be countersigned by the other', async () => {
    const keys = [key, new Authenticator()];
    const opened = await Promise.all(
      keys.map((one) => test.kernel.passkeys.beginEnrolment(SESSION, one.key())),
    );
    const ends = await Promise.all(
      opened.map(({ nonce, challenge }, at) =>
        test.kernel.passkeys.finishEnrolment(SESSION, nonce, keys[at]?.sign(challenge) ?? key.sign('')),
      ),
    );
    expect(ends.filter((one) => 'fingerprint' in one)).toHaveLength(1);
    expect((await test.kernel.passkeys.state()).keys.list).toHaveLength(1);
  });

  it('what one server asked for can be signed on another that shares the database', async () => {
    await enrol(key);
    await setMode('always');
    const id = await ask();
    const first = test;
    const { nonce, challenge } = await first.kernel.signing.begin(SESSION, await shown(id));
    await open();
    expect(test.kernel).not.toBe(first.kernel);
    await test.kernel.signing.finish(SESSION, nonce, key.signAs(challenge));
    expect(await first.kernel.approvals.get(id)).toMatchObject({ state: 'done' });
    expect(await test.lines()).toEqual(['hello']);
  });

  it('two people who sign at the same time both count', async () => {
    const rule = { id: 'two', tools: ['ledger_write'], action: 'ask' as const, signers: 2 };
    await open({ policy: { rules: [rule] } });
    const grace = new Authenticator();
    await enrol(key);
    await enrolSecond(grace, key, 'person:grace');
    const id = await ask();
    const items = await shown(id);
    const begin = (person: string) => test.kernel.signing.begin(SESSION, items, { person });
    const requests = [await begin('person:ada'), await begin('person:grace'), await begin('person:ada')];
    const [ada, other, again] = requests.map(({ nonce, challenge }, at) =>
      test.kernel.signing.finish(SESSION, nonce, (at === 1 ? grace : key).signAs(challenge)),
    );
    const ends = await Promise.allSettled([ada, other, again]);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'approval_state' },
    });
    expect(await test.lines()).toEqual(['hello']);
  });

  it('a key that is removed while its signature is on the way does not count', async () => {
    await enrol(key);
    const spare = new Authenticator();
    await enrolSecond(spare, key);
    await setMode('always');
    const id = await ask();
    const sent = await test.kernel.signing.begin(SESSION, await shown(id));
    const order = await test.kernel.passkeys.beginOrder(SESSION, { action: 'remove', key: key.fingerprint });
    await Promise.allSettled([
      test.kernel.passkeys.finishOrder(SESSION, order.nonce, spare.signAs(order.challenge)),
      test.kernel.signing.finish(SESSION, sent.nonce, key.signAs(sent.challenge)),
    ]);
    // Whichever came first, the log is in order: the check after each test reads it.
    expect((await test.kernel.passkeys.state()).keys.list).toHaveLength(1);
    expect((await test.lines()).length).toBeLessThanOrEqual(1);
  });

  it('a permit signed by a key that was removed since then is refused', async () => {
    await enrol(key);
    const spare = new Authenticator();
    await enrolSecond(spare, key);
    await setMode('always');
    const requester = { kind: 'agent' as const, id: 'local' };
    const wanted = { tool: 'ledger_write', args: { text: 'later' }, requester, reason: 'please' };
    const { id } = await test.kernel.approvals.propose({ ...wanted, kind: 'permit' });
    await sign(key, id);
    const order = await test.kernel.passkeys.beginOrder(SESSION, { action: 'remove', key: key.fingerprint });
    await test.kernel.passkeys.finishOrder(SESSION, order.nonce, spare.signAs(order.challenge));
    const { outcome } = await test.call('ledger_write', { text: 'later' });
    expect(outcome).toMatchObject({ status: 'refused', fault: { code: 'approval_invalid' } });
    expect(await test.lines()).toEqual([]);
  });

  it('signs as the signed-in person where several have keys, or as the one that was chosen', async () => {
    await enrol(key);
    const grace = new Authenticator();
    await enrolSecond(grace, key, 'person:grace');
    await setMode('always');
    const items = await shown(await ask());
    const { signing } = test.kernel;
    const whose = async (signer?: { person?: string; preferred?: string }) =>
      (await signing.begin(SESSION, items, signer)).keys.map(({ person }) => person);
    expect(await whose()).toEqual(['person:ada']);
    expect(await whose({ preferred: 'person:grace' })).toEqual(['person:grace']);
    expect(await whose({ preferred: 'person:linus' })).toEqual(['person:ada']);
    expect(await whose({ preferred: 'person:ada', person: 'person:grace' })).toEqual(['person:grace']);
    await expect(whose({ person: 'person:linus' })).rejects.toMatchObject({ code: 'signature_required' });
    const approval = await test.kernel.approvals.get(items[0]?.id ?? 0);
    expect(approval && (await signing.requirement(approval)).people).toEqual(['person:ada', 'person:grace']);
  });

  describe('asks for no signature', () => {
    let id: number;
    beforeEach(async () => {
      await enrol(key);
      await setMode('always');
      id = await ask();
    });
    const begin = async () => test.kernel.signing.begin(SESSION, await shown(id));
    const refusedWith = (code: string) => expect(begin()).rejects.toMatchObject({ code });

    it('when policy denies the call by now', async () => {
      await test.setPolicy({ blocked_tools: ['ledger_write'] });
      await refusedWith('policy_denied_blocked');
    });

    it('while changes or the agent are paused', async () => {
      await test.kernel.setPaused(true, PERSON);
      await refusedWith('paused');
      await test.kernel.setPaused(false, PERSON);
      await test.kernel.agents.setPaused('local', true, PERSON);
      await refusedWith('agent_paused');
      await test.kernel.agents.setPaused('local', false, PERSON);
      await begin();
    });

    it('when a limit is reached, or nothing runs but for show', async () => {
      await test.setPolicy({ require_approval_for: ['ledger_write'], max_mutations_per_hour: 1 });
      await begin();
      await sign(key, await ask('uses the limit'));
      await refusedWith('policy_denied_rate_limited');
      await test.setPolicy({ require_approval_for: ['ledger_write'], dry_run_mutations: true });
      await refusedWith('not_allowed');
    });

    it('for an approval that has expired, and accepts none that comes too late for it', async () => {
      const day = 86_400_000;
      clock = new Date(clock.getTime() + day - 1_000);
      const { nonce, challenge } = await begin();
      clock = new Date(clock.getTime() + 2_000);
      await expect(test.kernel.signing.finish(SESSION, nonce, key.signAs(challenge))).rejects.toMatchObject({
        code: 'approval_state',
      });
      await refusedWith('approval_state');
      expect(await test.lines()).toEqual([]);
    });
  });

  describe('a standing approval', () => {
    const draft = () => ({
      agent: 'agent:local',
      tool: 'ledger_write',
      predicates: [{ arg: 'text', op: 'any' as const }],
      until: new Date(clock.getTime() + 3_600_000).toISOString(),
      uses: 5,
    });

    it('is not given for calls that must be signed', async () => {
      await enrol(key);
      await setMode('always');
      await expect(test.kernel.standing.add(draft(), PERSON)).rejects.toMatchObject({
        code: 'not_allowed',
        message: 'Calls that need a passkey are signed each time.',
      });
      const approval = await test.kernel.approvals.get(await ask());
      const shown = approval && (await test.kernel.approvals.present(approval));
      expect(shown?.remember).toMatchObject({ possible: false, why: expect.stringContaining('passkey') });
    });

    it('never answers for one: not after a mode change, nor one between decision and admission', async () => {
      await enrol(key);
      await test.kernel.standing.add(draft(), PERSON);
      expect((await test.call('ledger_write', { text: 'one' })).outcome.status).toBe('ok');
      // The file of another process says less than this one: it has decided before the stricter mode was signed.
      const { standing } = test.kernel;
      const find = standing.find.bind(standing);
      let stricter = false;
      Object.assign(standing, {
        async find(...asked: Parameters<typeof find>) {
          const found = await find(...asked);
          if (found && !stricter) {
            stricter = true;
            await setMode('always');
          }
          return found;
        },
      });
      expect((await test.call('ledger_write', { text: 'two' })).outcome.status).toBe('routed');
      expect(stricter).toBe(true);
      expect((await test.call('ledger_write', { text: 'three' })).outcome.status).toBe('routed');
      expect(await test.lines()).toEqual(['one']);
      expect(await standing.list()).toMatchObject([{ used: 1 }]);
    });
  });

  it('an approval decided before a stricter mode was signed does not run without a signature', async () => {
    await enrol(key);
    const id = await ask();
    const { queue } = test.kernel;
    const requester = { kind: 'agent' as const, id: 'local' };
    const wanted = { tool: 'ledger_write', args: { text: 'later' }, requester, reason: 'please' };
    const permit = await test.kernel.approvals.propose({ ...wanted, kind: 'permit' });
    await test.kernel.approvals.approve(permit.id, PERSON);
    await setMode('always');
    expect((await test.call('ledger_write', { text: 'later' })).outcome).toMatchObject({
      status: 'refused',
      fault: { code: 'signature_required' },
    });
    await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({
      code: 'signature_required',
    });
    expect(await queue.get(permit.id)).toMatchObject({ state: 'approved' });
    expect(await test.lines()).toEqual([]);
  });

  it('one call of a signed batch that cannot run does not stop the others', async () => {
    await enrol(key);
    await setMode('always');
    const ids = [await ask('one'), await ask('two'), await ask('three')];
    const begun = await test.kernel.signing.begin(SESSION, await shown(...ids));
    const bound = await test.inventory.resolve('ledger_write');
    if (!bound) throw new Error('The tool is missing.');
    const error = new ToolError('not_allowed', 'Not in this environment.');
    Object.assign(bound.toolkit, {
      obstacle: ({ args }: { args: { text?: string } }) => (args.text === 'one' ? { error } : undefined),
    });
    const ends = await test.kernel.signing.finish(SESSION, begun.nonce, key.signAs(begun.challenge));
    expect(ends.map(({ approval, error: why }) => [approval.state, why?.code])).toEqual([
      ['pending', 'not_allowed'],
      ['done', undefined],
      ['done', undefined],
    ]);
    expect((await test.lines()).sort()).toEqual(['three', 'two']);
  });

  describe('refuses', () => {
    let id: number;
    let challenge: string;
    let nonce: string;
    beforeEach(async () => {
      await enrol(key);
      await setMode('always');
      id = await ask();
      ({ nonce, challenge } = await test.kernel.signing.begin(SESSION, await shown(id)));
    });
    const finish = (by: ReturnType<Authenticator['signAs']>, session = SESSION) =>
      test.kernel.signing.finish(session, nonce, by);
    afterEach(async () => {
      expect(await test.lines()).toEqual([]);
      expect((await test.kernel.approvals.get(id))?.state).toBe('pending');
    });

    it.each([
      ['a signature without user verification', { flags: 0x01 }],
      ['a signature without a touch', { flags: 0x04 }],
      ['a signature made on another port', { origin: 'http://localhost:9999' }],
      ['a signature made for another site', { rpId: 'evil.localhost' }],
      ['a signature that registers a key', { type: 'webauthn.create' }],
    ])('%s', async (_, options) => {
      await expect(finish(key.signAs(challenge, options))).rejects.toMatchObject({
        code: 'signature_invalid',
      });
    });

    it('a signature on something else', async () => {
      const other = Buffer.from('something else').toString('base64url');
      await expect(finish(key.signAs(other))).rejects.toMatchObject({ code: 'signature_invalid' });
    });

    it('a key that is not enrolled, and one that was removed', async () => {
      await expect(finish(new Authenticator().signAs(challenge))).rejects.toMatchObject({
        code: 'signature_invalid',
      });
      const spare = new Authenticator();
      await enrolSecond(spare, key);
      const order = await test.kernel.passkeys.beginOrder(SESSION, {
        action: 'remove',
        key: key.fingerprint,
      });
      await test.kernel.passkeys.finishOrder(SESSION, order.nonce, spare.signAs(order.challenge));
      const again = await test.kernel.signing.begin(SESSION, await shown(id));
      await expect(
        test.kernel.signing.finish(SESSION, again.nonce, key.signAs(again.challenge)),
      ).rejects.toMatchObject({ code: 'signature_invalid' });
    });

    it('another session, and a statement whose time is over', async () => {
      await expect(finish(key.signAs(challenge), 'session-of-mallory')).rejects.toMatchObject({
        code: 'approval_state',
      });
      clock = new Date(clock.getTime() + 121_000);
      await expect(finish(key.signAs(challenge))).rejects.toMatchObject({ code: 'approval_state' });
    });

    it('a mode changed without a key, in the file or in the log', async () => {
      const order = await test.kernel.passkeys.beginOrder(SESSION, { action: 'mode', mode: 'off' });
      await expect(
        test.kernel.passkeys.finishOrder(SESSION, order.nonce, new Authenticator().signAs(order.challenge)),
      ).rejects.toMatchObject({ code: 'signature_invalid' });
      await open({ passkey: 'off' });
      await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({
        code: 'signature_required',
      });
    });
  });

  it('does not run a row that was edited to approved, with or without signatures required', async () => {
    const forge = async (text: string) => {
      const id = await ask(text);
      const decided = { decided_by: 'person:ada', decided_at: clock.toISOString() };
      const row = { state: 'approved', ...decided, version: 2 };
      await store.database.db.updateTable('approvals').set(row).where('id', '=', id).execute();
      clock = new Date(clock.getTime() + 10 * 60_000);
      await test.kernel.recover();
      expect(await test.kernel.approvals.get(id)).toMatchObject({
        state: 'failed',
        outcome: { status: 'refused', code: 'approval_invalid' },
      });
    };
    await forge('off');
    await enrol(key);
    await setMode('always');
    await forge('always');
    expect(await test.lines()).toEqual([]);
  });

  it('a program that speaks to the key itself can name any page, but needs touch and verification too', async () => {
    await enrol(key);
    await setMode('always');
    const id = await ask();
    // No browser is involved here: the software authenticator of this test claims the page's origin.
    for (const flags of [0x00, 0x01, 0x04]) {
      const { nonce, challenge } = await test.kernel.signing.begin(SESSION, await shown(id));
      const made = key.signAs(challenge, { flags });
      await expect(test.kernel.signing.finish(SESSION, nonce, made)).rejects.toMatchObject({
        code: 'signature_invalid',
      });
    }
    expect(await sign(key, id)).toMatchObject([{ approval: { state: 'done' } }]);
  });

  it('of two tabs that sign the same statement, one counts', async () => {
    await enrol(key);
    await setMode('always');
    const id = await ask();
    const { nonce, challenge } = await test.kernel.signing.begin(SESSION, await shown(id));
    const tabs = [1, 2].map(() => test.kernel.signing.finish(SESSION, nonce, key.signAs(challenge)));
    const ends = await Promise.allSettled(tabs);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await test.lines()).toEqual(['hello']);
  });

  it('a permit is signed once and works when its call comes, and only for it', async () => {
    await enrol(key);
    await setMode('always');
    const permit = await test.kernel.approvals.propose({
      tool: 'ledger_write',
      args: { text: 'later' },
      requester: { kind: 'agent', id: 'local' },
      reason: 'please',
      kind: 'permit',
    });
    await sign(key, permit.id);
    expect((await test.kernel.approvals.get(permit.id))?.state).toBe('approved');
    expect((await test.call('ledger_write', { text: 'later' })).outcome.status).toBe('ok');
    expect(await test.lines()).toEqual(['later']);
  });

  describe('a part of a call that was approved without a signature', () => {
    const batch = async () => {
      const { outcome } = await test.call('ledger_batch', { texts: ['part'] });
      return test.kernel.approvals.approve(routed(outcome), PERSON);
    };

    it('does not run where a rule requires a signature for it: it is asked for on its own', async () => {
      const signed = { id: 'sign', tools: ['ledger_write'], action: 'ask' as const, signed: true };
      await open({ policy: { require_approval_for: ['ledger_batch'], rules: [signed] } });
      await enrol(key);
      await batch();
      expect(await test.lines()).toEqual([]);
      const [asked] = await test.kernel.approvals.list({ states: ['pending'], tools: ['ledger_write'] });
      await sign(key, asked?.id ?? 0);
      expect(await test.lines()).toEqual(['part']);
    });

    it('runs under the signature of the whole', async () => {
      const tools = ['ledger_write', 'ledger_batch'];
      await open({ policy: { require_approval_for: tools } });
      await enrol(key);
      await setMode('always');
      await sign(key, routed((await test.call('ledger_batch', { texts: ['part'] })).outcome));
      expect(await test.lines()).toEqual(['part']);
    });
  });

  it('asks for no signature on arguments that the row shows in place of those that were requested', async () => {
    await enrol(key);
    await setMode('always');
    const args = { text: 'harmful' };
    const requester = { kind: 'agent' as const, id: 'local' };
    const wanted = { tool: 'ledger_write', args, requester, reason: 'please', kind: 'permit' as const };
    const ids = [(await test.kernel.approvals.propose(wanted)).id, await ask('harmful too')];
    for (const id of ids) {
      const items = await shown(id);
      const shows = { args: JSON.stringify({ text: 'harmless' }) };
      await store.database.db.updateTable('approvals').set(shows).where('id', '=', id).execute();
      const row = await test.kernel.approvals.get(id);
      const refused = {
        code: 'approval_invalid',
        message: expect.stringContaining('arguments that were requested'),
      };
      if (row) await expect(test.kernel.approvals.present(row)).rejects.toMatchObject(refused);
      await expect(test.kernel.signing.begin(SESSION, items)).rejects.toMatchObject(refused);
    }
    expect(await test.lines()).toEqual([]);
  });

  it('what had to be signed when it was requested is signed, even after the mode was weakened', async () => {
    await enrol(key);
    await setMode('always');
    const id = await ask();
    await setMode('off');
    const approval = await test.kernel.approvals.get(id);
    expect(approval && (await test.kernel.signing.requirement(approval)).required).toBe(1);
    await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({
      code: 'signature_required',
    });
    expect(await sign(key, id)).toMatchObject([{ approval: { state: 'done' } }]);
  });

  it('rejecting needs no signature, and a reset removes all keys and stays visible', async () => {
    await enrol(key);
    await setMode('always');
    const id = await ask();
    expect((await test.kernel.approvals.reject(id, PERSON)).state).toBe('rejected');
    await test.kernel.passkeys.reset(PERSON);
    const { keys } = await test.kernel.passkeys.state();
    expect([keys.list.length, keys.mode]).toEqual([0, 'off']);
    expect(keys.resets).toEqual([
      { at: expect.any(String), by: principalName(PERSON), removed: expect.any(Number) },
    ]);
    await test.kernel.approvals.approve(await ask('after'), PERSON);
    expect(await test.lines()).toEqual(['after']);
  });
});
