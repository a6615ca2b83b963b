import type { Updateable } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Authenticator } from '../../../test/support/authenticator.ts';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { ToolError } from '../../contract/errors.ts';
import type { Approval } from '../../contract/ports.ts';
import { createPasskeys } from '../passkeys/service.ts';
import type { ApprovalsTable } from '../store/tables.ts';
import { AT, minutesLater, OK, openQueue, type TestQueueOptions } from './approvals.fixture.ts';
import { createSigning, type Signer, type Signing } from './sign.ts';

const SESSION = 'session';
const [ada, grace] = [new Authenticator(), new Authenticator()];

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore('sqlite');
  const passkeys = createPasskeys(store.database, () => AT);
  const enrol = async (one: Authenticator, person: string) => {
    const { nonce, challenge } = await passkeys.beginEnrolment(SESSION, one.key(person));
    return passkeys.finishEnrolment(SESSION, nonce, one.sign(challenge));
  };
  await enrol(ada, 'person:ada');
  const second = await enrol(grace, 'person:grace');
  if (!('challenge' in second)) throw new Error('It was enrolled without a countersignature.');
  await passkeys.finishCountersigned(SESSION, second.nonce, ada.signAs(second.challenge));
});
afterAll(() => store.close());
beforeEach(async () => {
  for (const table of ['approvals', 'approval_signatures', 'passkey_requests'] as const)
    await store.database.db.deleteFrom(table).execute();
});

interface Options extends TestQueueOptions {
  requireAsked?(approval: Approval): Promise<void>;
  execute?(approval: Approval): Promise<never>;
}

function open({ requireAsked, execute, ...options }: Options = {}) {
  const test = openQueue(store.database, { signersFor: async () => 1, ...options });
  const known = new Map<number, Approval>();
  const find = async (id: number): Promise<Approval> => {
    const approval = known.get(id) ?? (await test.queue.get(id));
    if (!approval) throw new ToolError('not_found', `Approval ${id} not found.`);
    return approval;
  };
  const ran: Approval[] = [];
  const signing = createSigning({
    queue: test.queue,
    find,
    requireAsked: requireAsked ?? (async () => {}),
    async execute(approval) {
      if (execute) await execute(approval);
      ran.push(approval);
      return { approval: { ...approval, state: 'done' }, outcome: OK };
    },
  });
  const ask = (text = 'hello', more = {}): Promise<Approval> =>
    test.queue.propose({
      tool: 'ledger_write',
      args: { text },
      requester: { kind: 'agent', id: 'local' },
      reason: 'please',
      ...more,
    });
  return { ...test, signing, find, known, ran, ask };
}
const set = ({ id }: Approval, columns: Updateable<ApprovalsTable>) =>
  store.database.db.updateTable('approvals').set(columns).where('id', '=', id).execute();
const sign = async (signing: Signing, by: Authenticator, shown: readonly Approval[], signer?: Signer) => {
  const { nonce, challenge } = await signing.begin(SESSION, shown, signer);
  return signing.finish(SESSION, nonce, by.signAs(challenge));
};
const signatures = ({ id }: Approval) =>
  store.database.db.selectFrom('approval_signatures').selectAll().where('approval_id', '=', id).execute();

describe('what must be signed', () => {
  it('is nothing where nothing requires it', async () => {
    const { signing, ask } = open({ signersFor: async () => 0 });
    expect(await signing.requirement(await ask())).toEqual({ required: 0, signed: [], people: [] });
  });

  it('names who signed this version and who still can', async () => {
    const { signing, ask } = open({ signersFor: async () => 2 });
    const asked = await ask();
    expect(await signing.requirement(asked)).toEqual({
      required: 2,
      signed: [],
      people: ['person:ada', 'person:grace'],
    });
    await sign(signing, ada, [asked]);
    expect(await signing.requirement(asked)).toEqual({
      required: 2,
      signed: ['person:ada'],
      people: ['person:grace'],
    });
    expect((await signing.requirement({ ...asked, version: 2 })).signed).toEqual([]);
    expect((await signing.requirement(await ask('another'))).signed).toEqual([]);
  });

  it('is the stricter of the request and of now', async () => {
    const strict = await open({ signersFor: async () => 2 }).ask();
    expect((await open().signing.requirement(strict)).required).toBe(2);
    const mild = await open({ signersFor: async () => 0 }).ask('mild');
    expect((await open().signing.requirement(mild)).required).toBe(1);
    const seen: unknown[] = [];
    const { signing, bound } = open({
      async signersFor(asked) {
        seen.push(asked);
        return 3;
      },
    });
    expect((await signing.requirement(mild)).required).toBe(3);
    expect(seen).toEqual([{ bound, args: mild.args, requester: mild.requester }]);
  });

  it('is one signature where the tool is gone', async () => {
    const asked = await open({ signersFor: async () => 0 }).ask();
    const { signing } = open({ resolve: async () => undefined, signersFor: async () => 0 });
    expect((await signing.requirement(asked)).required).toBe(1);
  });
});

describe('a signature is not asked for', () => {
  it('for none, or for more than a person can review', async () => {
    const { signing, ask } = open();
    const refused = { code: 'invalid_input', message: 'One signature covers 1 to 25 approvals.' };
    await expect(signing.begin(SESSION, [])).rejects.toMatchObject(refused);
    const shown = await Promise.all(Array.from({ length: 25 }, (_, at) => ask(`line ${at}`)));
    const { statement } = await signing.begin(SESSION, shown);
    expect(statement).toMatchObject({
      v: 'countersign-decision/1',
      person: 'person:ada',
      decision: 'approved',
      scope: 'once',
      of: 25,
      items: { length: 25 },
    });
    await expect(signing.begin(SESSION, [...shown, await ask('one more')])).rejects.toMatchObject(refused);
  });

  it('on what is decided, was edited or has expired', async () => {
    const { signing, ask, setClock } = open();
    const asked = await ask();
    await expect(signing.begin(SESSION, [{ ...asked, version: 2 }])).rejects.toMatchObject({
      code: 'approval_state',
      message: `Approval ${asked.id} was edited after you opened it. Review it before you sign.`,
    });
    setClock(minutesLater(60));
    await expect(signing.begin(SESSION, [asked])).rejects.toMatchObject({
      code: 'approval_state',
      message: expect.stringContaining('expired at'),
    });
    await set(asked, { state: 'rejected' });
    await expect(signing.begin(SESSION, [asked])).rejects.toMatchObject({
      code: 'approval_state',
      message: `Approval ${asked.id} is already rejected. Nothing was signed.`,
    });
  });

  it('where the tool is gone, the log has no such request, or the call could not run', async () => {
    const asked = await open().ask();
    const begin = (options: Options) => open(options).signing.begin(SESSION, [asked]);
    await expect(begin({ resolve: async () => undefined })).rejects.toMatchObject({ code: 'not_found' });
    const [forged, paused, closed] = ['forged', 'paused', 'closed'].map(
      (why) => new ToolError('not_allowed', why),
    );
    const requireAsked = async () => Promise.reject(forged);
    await expect(begin({ requireAsked })).rejects.toBe(forged);
    const toolkit = { obstacle: async () => closed && { error: closed } };
    await expect(begin({ toolkit })).rejects.toBe(closed);
    await expect(begin({ toolkit, foresee: async () => paused })).rejects.toBe(paused);
  });

  it('of someone who has signed or has no key', async () => {
    const { signing, ask } = open({ signersFor: async () => 3 });
    const asked = await ask();
    const refused = (message: string) => ({ code: 'signature_required', message });
    await expect(signing.begin(SESSION, [asked], { person: 'person:eve' })).rejects.toMatchObject(
      refused('person:eve has already signed or has no passkey. Another person must sign.'),
    );
    await sign(signing, ada, [asked]);
    // A batch needs someone who has signed none of it.
    const other = await ask('other');
    const { keys } = await signing.begin(SESSION, [other, asked]);
    expect(keys.map(({ person }) => person)).toEqual(['person:grace']);
    await sign(signing, grace, [asked]);
    await expect(signing.begin(SESSION, [asked])).rejects.toMatchObject(
      refused('Everyone with a passkey has already signed or has no passkey. Another person must sign.'),
    );
  });

  it('of another person than the one signed in, where they have a key', async () => {
    const { signing, ask } = open();
    const asked = await ask();
    const whose = async (signer?: Signer) =>
      (await signing.begin(SESSION, [asked], signer)).keys.map(({ person }) => person);
    expect(await whose()).toEqual(['person:ada']);
    expect(await whose({ preferred: 'person:grace' })).toEqual(['person:grace']);
    expect(await whose({ preferred: 'person:eve' })).toEqual(['person:ada']);
    expect(await whose({ preferred: 'person:ada', person: 'person:grace' })).toEqual(['person:grace']);
  });

  it('where no key is enrolled', async () => {
    const empty = await openTestStore('sqlite');
    try {
      const { queue } = openQueue(empty.database, { signersFor: async () => 1 });
      const asked = await queue.propose({
        tool: 'ledger_write',
        args: { text: 'hello' },
        requester: { kind: 'agent', id: 'local' },
        reason: 'please',
      });
      const find = async () => asked;
      const execute = async () => ({ approval: asked, outcome: undefined });
      const signing = createSigning({ queue, find, requireAsked: async () => {}, execute });
      await expect(signing.begin(SESSION, [asked])).rejects.toMatchObject({
        code: 'signature_required',
        message: 'No passkey is enrolled. Enrol one in the web app, under Passkeys.',
      });
    } finally {
      await empty.close();
    }
  });
});

describe('a signed decision', () => {
  it('approves the call in the name of the signer, and runs it', async () => {
    const { signing, ask, ran, find } = open();
    const asked = await ask();
    const [signed] = await sign(signing, grace, [asked], { person: 'person:grace' });
    const approved = await find(asked.id);
    expect(approved).toEqual({
      ...asked,
      state: 'approved',
      version: 2,
      decidedBy: { kind: 'person', id: 'grace' },
      decidedAt: AT,
    });
    expect(ran).toEqual([approved]);
    expect(signed).toEqual({
      approval: { ...approved, state: 'done' },
      decided: { approval: { ...approved, state: 'done' }, outcome: OK },
      required: 1,
      signed: ['person:grace'],
    });
    const rows = await store.database.db.selectFrom('audit_log').selectAll().orderBy('seq', 'desc').execute();
    const [decision, signature] = rows.map(({ hash, body }) => ({ hash, ...JSON.parse(body) }));
    expect(signature).toMatchObject({ kind: 'signature', at: AT.toISOString(), principal: 'person:grace' });
    const [{ salt } = { salt: '' }] = await signatures(asked);
    expect(decision).toMatchObject({
      status: 'approved',
      principal: 'person:grace',
      extra: {
        signed: {
          item: { version: 1, binding: null, expires: minutesLater(60).toISOString() },
          by: [{ entry: signature?.hash, salt }],
        },
      },
    });
  });

  it('waits for as many people as are required, by name', async () => {
    const { signing, ask, ran } = open({ signersFor: async () => 2 });
    const asked = await ask();
    const [first] = await sign(signing, grace, [asked], { person: 'person:grace' });
    expect(first).toEqual({ approval: asked, decided: undefined, required: 2, signed: ['person:grace'] });
    expect(ran).toEqual([]);
    const [second] = await sign(signing, ada, [asked]);
    expect(second).toMatchObject({ approval: { state: 'done' }, signed: ['person:ada', 'person:grace'] });
    expect(ran).toMatchObject([{ decidedBy: { id: 'ada' } }]);
  });

  it('counts no signature on another version', async () => {
    const { signing, ask, ran } = open({ signersFor: async () => 2 });
    const asked = await ask();
    await sign(signing, grace, [asked], { person: 'person:grace' });
    await set(asked, { version: 2 });
    const [again] = await sign(signing, ada, [{ ...asked, version: 2 }]);
    expect(again).toMatchObject({ approval: { state: 'pending' }, signed: ['person:ada'] });
    expect(ran).toEqual([]);
  });

  it('runs no permit', async () => {
    const { signing, ask, ran } = open();
    const [signed] = await sign(signing, ada, [await ask('hello', { kind: 'permit' })]);
    expect(signed).toMatchObject({ approval: { state: 'approved' }, decided: undefined });
    expect(ran).toEqual([]);
  });

  it('is in the order of the numbers for a batch, each with what it requires', async () => {
    const { signing, ask } = open({ signersFor: async ({ args }) => (args.text === 'two' ? 2 : 1) });
    const [one, two] = [await ask('one'), await ask('two')];
    const ends = await sign(signing, ada, [two, one]);
    expect(ends.map(({ approval, required }) => [approval.id, approval.state, required])).toEqual([
      [one.id, 'done', 1],
      [two.id, 'pending', 2],
    ]);
  });

  it('reports a call that could not run, and passes on any other failure', async () => {
    const closed = new ToolError('unavailable', 'Closed.');
    const { signing, ask } = open({ execute: async () => Promise.reject(closed) });
    const asked = await ask();
    expect(await sign(signing, ada, [asked])).toEqual([
      {
        approval: expect.objectContaining({ id: asked.id, state: 'approved', version: 2 }),
        decided: undefined,
        required: 1,
        signed: ['person:ada'],
        error: closed,
      },
    ]);
    const broken = open({ execute: async () => Promise.reject(new TypeError('a bug')) });
    await expect(sign(broken.signing, ada, [await ask('again')])).rejects.toThrow(TypeError);
  });
});

describe('a signature is refused', () => {
  const begun = async (options: Options = {}) => {
    const test = open(options);
    const asked = await test.ask();
    return { ...test, asked, request: await test.signing.begin(SESSION, [asked]) };
  };

  it.each<[string, Updateable<ApprovalsTable>]>([
    ['arguments', { digest: '0'.repeat(64) }],
    ['version', { version: 2 }],
    ['requester', { requester: 'agent:other' }],
    ['expiry', { expires_at: null }],
  ])('on a row that has another %s by then', async (_what, columns) => {
    const { signing, asked, request, ran } = await begun();
    await set(asked, columns);
    await expect(signing.finish(SESSION, request.nonce, ada.signAs(request.challenge))).rejects.toMatchObject(
      {
        code: 'approval_state',
        message: `Approval ${asked.id} has changed. Nothing was done; review it again.`,
      },
    );
    expect([await signatures(asked), ran]).toEqual([[], []]);
  });

  it('on a row that was decided or has expired by then', async () => {
    const { signing, asked, request, setClock, find } = await begun();
    const finish = () => signing.finish(SESSION, request.nonce, ada.signAs(request.challenge));
    await set(asked, { state: 'rejected' });
    await expect(finish()).rejects.toMatchObject({
      code: 'approval_state',
      message: `Approval ${asked.id} was just decided. Nothing was done; review it again.`,
    });
    expect((await find(asked.id)).state).toBe('rejected');
    const late = await open().ask('late', { expiresAt: minutesLater(1) });
    const second = await signing.begin(SESSION, [late]);
    setClock(minutesLater(1));
    await expect(signing.finish(SESSION, second.nonce, ada.signAs(second.challenge))).rejects.toMatchObject({
      code: 'approval_state',
      message: expect.stringContaining('expired at'),
    });
    expect(await signatures(late)).toEqual([]);
  });

  it('on a row that is gone by then', async () => {
    const { signing, asked, request, known } = await begun();
    // It was still there when the required signatures were counted.
    known.set(asked.id, asked);
    await store.database.db.deleteFrom('approvals').execute();
    await expect(signing.finish(SESSION, request.nonce, ada.signAs(request.challenge))).rejects.toMatchObject(
      { code: 'approval_state', message: expect.stringContaining('has changed') },
    );
  });

  it('when the same person has signed in the meantime', async () => {
    const { signing, asked, request } = await begun({ signersFor: async () => 2 });
    await sign(signing, ada, [asked]);
    await expect(signing.finish(SESSION, request.nonce, ada.signAs(request.challenge))).rejects.toMatchObject(
      {
        code: 'approval_state',
        message: `person:ada has already signed approval ${asked.id}.`,
      },
    );
    expect(await signatures(asked)).toHaveLength(1);
  });

  it('by a key that is not the signer’s, or from another session', async () => {
    const { signing, asked, request } = await begun();
    const { nonce, challenge } = request;
    await expect(signing.finish('another', nonce, ada.signAs(challenge))).rejects.toMatchObject({
      code: 'approval_state',
    });
    await expect(signing.finish(SESSION, nonce, grace.signAs(challenge))).rejects.toMatchObject({
      code: 'signature_invalid',
    });
    await expect(signing.finish(SESSION, 'none', ada.signAs(challenge))).rejects.toMatchObject({
      code: 'approval_state',
    });
    expect(await signatures(asked)).toEqual([]);
  });
});
