import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ledgerToolkit } from '../../../test/support/ledger.ts';
import { ToolError } from '../../contract/errors.ts';
import type { Environment } from '../../contract/presentation.ts';
import type { Tool } from '../../contract/tool.ts';
import type { Toolkit } from '../../contract/toolkit.ts';
import type { HoldView } from '../../kernel/views/shapes.ts';
import { openWebWorld, type Reply, type WebWorld } from './api.fixture.ts';

const CONFIG = `toolkits = ["ledger"]
[mcp_policy]
require_approval_for = ["ledger_write", "ledger_write_blind", "ledger_post"]
`;
const NO_UNDO = 'ledger_write_blind';
const POST = 'ledger_post';

describe('approving on the web', () => {
  let world: WebWorld;
  let where: Environment;
  let isClosed: boolean;
  afterEach(() => world.close());

  /** The ledger as a service that others see; where it is can change after a call was asked. */
  const open = async (settings = 'hold_seconds = 30', environment: Environment = 'live'): Promise<void> => {
    where = environment;
    isClosed = false;
    const base = ledgerToolkit();
    const write = base.tools.find(({ name }) => name === 'ledger_write') as Tool;
    const post: Tool = {
      ...write,
      name: POST,
      policyName: undefined,
      present: () => ({ title: 'Post a line', done: 'Posted a line', act: 'post', kind: 'post' }),
    };
    const toolkit: Partial<Toolkit> = {
      tools: [...base.tools, post],
      target: async () => ({ kind: 'ledger', label: 'Ledger', environment: where }),
      obstacle: async () =>
        isClosed ? { error: new ToolError('unavailable', 'The ledger is closed.') } : undefined,
    };
    world = await openWebWorld({ config: `${CONFIG}[approvals]\n${settings}\n`, toolkit });
  };
  const approve = (id: number, body: object = { version: 1 }): Promise<Reply> =>
    world.send('POST', `/inbox/${id}/approve`, body);
  const heldOf = ({ body }: Reply): HoldView => {
    const [held] = (body as { holds?: HoldView[] }).holds ?? [];
    if (!held) throw new Error(`Nothing is held: ${JSON.stringify(body)}`);
    return held;
  };
  const holds = async (): Promise<readonly HoldView[]> =>
    ((await world.get('/holds')).body as { holds: HoldView[] }).holds;
  const stateOf = async (id: number): Promise<string> =>
    ((await world.get(`/inbox/${id}`)).body as { state: string }).state;
  const ended = async (): Promise<HoldView | undefined> => {
    await expect.poll(async () => (await holds())[0]?.state, { timeout: 10_000 }).toBe('ran');
    return (await holds())[0];
  };

  it('holds a live call without undo, and runs it when the time is over with no page open', async () => {
    await open('hold_seconds = 1');
    const id = await world.ask('one', NO_UNDO);
    const reply = await approve(id);
    expect(reply).toMatchObject({
      status: 200,
      body: {
        id,
        state: 'pending',
        result: null,
        held: heldOf(reply).key,
        holds: [{ state: 'held', hold_ms: 1000 }],
      },
    });
    expect(heldOf(reply).items).toMatchObject([{ id, version: 1 }]);
    expect(heldOf(reply).left_ms).toBeGreaterThan(0);
    expect(await world.lines()).toEqual([]);
    // No request between here and the end.
    await sleep(1000);
    await expect.poll(() => world.lines(), { timeout: 10_000 }).toEqual(['one']);
    expect(await ended()).toMatchObject({ results: [{ id, state: 'done' }] });
    expect((await world.get(`/inbox/${id}`)).body).toMatchObject({
      state: 'done',
      decided_by: `person:${world.app.person.id}`,
      held_by: null,
    });
  });

  it('calls off without a trace, runs now, and holds again', async () => {
    await open();
    const id = await world.ask('one', POST);
    const before = await world.app.database.db.selectFrom('approvals').selectAll().execute();
    const { key } = heldOf(await approve(id));
    expect(await world.send('POST', `/holds/${key}/call-off`)).toMatchObject({
      status: 200,
      body: { state: 'called_off' },
    });
    expect(await world.app.database.db.selectFrom('approvals').selectAll().execute()).toEqual(before);
    expect(await world.send('POST', `/holds/${key}/run`)).toMatchObject({ status: 409 });
    expect(await stateOf(id)).toBe('pending');
    const again = heldOf(await approve(id, { version: 1, note: 'fine' }));
    expect(again.key).not.toBe(key);
    expect((await world.send('POST', `/holds/${again.key}/run`)).body).toMatchObject({
      state: 'ran',
      results: [{ id, state: 'done' }],
    });
    expect(await world.send('POST', `/holds/${again.key}/call-off`)).toMatchObject({ status: 409 });
    expect(await world.send('POST', '/holds/nothing/run')).toMatchObject({ status: 404 });
    expect((await world.get(`/inbox/${id}`)).body).toMatchObject({ state: 'done', decision_reason: 'fine' });
    expect(await world.lines()).toEqual(['one']);
  });

  it('answers with the same hold twice, also to two requests that come together', async () => {
    await open();
    const id = await world.ask('one', NO_UNDO);
    const replies = await Promise.all([approve(id), approve(id), approve(id)]);
    expect(new Set(replies.map((reply) => heldOf(reply).key)).size).toBe(1);
    expect(heldOf(await approve(id)).key).toBe((await holds())[0]?.key);
    expect(await holds()).toHaveLength(1);
  });

  it('refuses immediately what could not be approved after the hold', async () => {
    await open();
    const id = await world.ask('one', NO_UNDO);
    expect(await approve(id, { version: 2 })).toMatchObject({
      status: 409,
      body: { code: 'approval_state' },
    });
    isClosed = true;
    expect(await approve(id)).toMatchObject({ status: 400, body: { error: 'The ledger is closed.' } });
    isClosed = false;
    const forged = await world.ask('two', NO_UNDO);
    await world.app.database.db
      .updateTable('approvals')
      .set({ args: '{"text":"other"}' })
      .where('id', '=', forged)
      .execute();
    expect(await approve(forged)).toMatchObject({ status: 400, body: { code: 'approval_invalid' } });
    expect(await stateOf(forged)).toBe('failed');
    await world.send('POST', `/inbox/${id}/reject`);
    expect(await approve(id)).toMatchObject({ status: 409 });
    expect(await approve(77)).toMatchObject({ status: 404 });
    expect(await holds()).toEqual([]);
  });

  it('reports at the end what became of it during the hold', async () => {
    await open();
    const rejected = await world.ask('one', NO_UNDO);
    const edited = await world.ask('two', NO_UNDO);
    const withdrawn = await world.ask('three', NO_UNDO);
    const ids = [rejected, edited, withdrawn];
    const { key } = heldOf(await world.send('POST', '/inbox/approve', { ids, versions: [1, 1, 1] }));
    await world.send('POST', `/inbox/${rejected}/reject`);
    await world.send('POST', `/inbox/${edited}/edit`, { args: { text: 'changed' } });
    await world.app.kernel.approvals.withdraw(withdrawn, world.app.person);
    expect((await world.send('POST', `/holds/${key}/run`)).body).toMatchObject({
      results: [
        { id: rejected, error: expect.stringContaining('already rejected') },
        { id: edited, error: expect.stringContaining('edited after you opened it') },
        { id: withdrawn, error: expect.stringContaining('already withdrawn') },
      ],
    });
    expect(await stateOf(edited)).toBe('pending');
    expect(await world.lines()).toEqual([]);
  });

  it('runs immediately where nothing is to be held', async () => {
    await open('hold_seconds = 0');
    const id = await world.ask('one', NO_UNDO);
    expect((await approve(id)).body).toMatchObject({ state: 'done', result: { status: 'ok' } });
    const many = await world.ask('two', POST);
    const { body } = await world.send('POST', '/inbox/approve', { ids: [many] });
    expect(body).toMatchObject({ results: [{ id: many, state: 'done' }] });
    expect(await holds()).toEqual([]);
  });

  it('does not hold what is in a sandbox or local, can be undone, or is a permit', async () => {
    await open();
    for (const [environment, tool] of [
      ['sandbox', POST],
      ['local', NO_UNDO],
      ['live', 'ledger_write'],
    ] as const) {
      where = environment;
      const id = await world.ask(`${environment} ${tool}`, tool);
      expect((await approve(id)).body, environment).toMatchObject({ state: 'done' });
    }
    const permit = await world.app.kernel.approvals.propose({
      tool: 'ledger_permitted',
      args: { text: 'with a permit' },
      requester: { kind: 'agent', id: 'local' },
      reason: 'asked',
      kind: 'permit',
    });
    expect((await approve(permit.id)).body).toMatchObject({ state: 'approved' });
    expect(await holds()).toEqual([]);
  });

  it('holds what has become live since it was asked', async () => {
    await open('hold_seconds = 30', 'sandbox');
    const [one, other] = [await world.ask('one', POST), await world.ask('two', POST)];
    where = 'live';
    expect(heldOf(await approve(one))).toMatchObject({ state: 'held' });
    const { body } = await world.send('POST', '/inbox/approve', { ids: [other] });
    expect(body).toMatchObject({
      results: [{ id: other }],
      holds: [{ state: 'held', items: [{ id: other }] }],
    });
    expect(await world.lines()).toEqual([]);
  });

  it('does not hold what must be signed: it is refused without a signature', async () => {
    await open('hold_seconds = 30\npasskey = "always"');
    const id = await world.ask('one', NO_UNDO);
    expect(await approve(id)).toMatchObject({ status: 428, body: { code: 'signature_required' } });
    const { body } = await world.send('POST', '/inbox/approve', { ids: [id] });
    expect(body).toMatchObject({ results: [{ id, code: 'signature_required' }] });
    expect(await holds()).toEqual([]);
  });

  it('holds every live call that is approved together, and runs the others immediately', async () => {
    await open();
    const undoable = await world.ask('one');
    const post = await world.ask('two', POST);
    where = 'local';
    const local = await world.ask('three');
    const ids = [undoable, local, 77, post, post];
    const reply = await world.send('POST', '/inbox/approve', { ids, versions: [1, 1, 1, 1, 1] });
    const { key } = heldOf(reply);
    expect(reply.body).toMatchObject({
      results: [
        { id: undoable, state: 'pending', held: key },
        { id: local, state: 'done' },
        { id: 77, code: 'not_found' },
        { id: post, held: key },
        { id: post, held: key },
      ],
      holds: [{ key, items: [{ id: undoable }, { id: post }] }],
    });
    expect(await world.lines()).toEqual(['three']);
    await world.send('POST', `/holds/${key}/call-off`);
    expect([await stateOf(undoable), await stateOf(post)]).toEqual(['pending', 'pending']);
  });

  it('shows a hold to another person, who can only reject', async () => {
    await open();
    const id = await world.ask('one', NO_UNDO);
    const { key, until } = heldOf(await approve(id));
    const bob = await world.signIn({ kind: 'person', id: 'bob' });
    expect((await bob.get(`/inbox/${id}`)).body).toMatchObject({
      state: 'pending',
      held_by: `person:${world.app.person.id}`,
      held_until: until,
    });
    expect((await bob.get('/holds')).body).toEqual({ holds: [] });
    expect(await bob.send('POST', `/holds/${key}/call-off`)).toMatchObject({ status: 404 });
    expect(await bob.send('POST', `/inbox/${id}/approve`)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining(`person:${world.app.person.id} has approved ${id}`) },
    });
    expect((await bob.send('POST', `/inbox/${id}/reject`)).body).toMatchObject({ state: 'rejected' });
    expect((await world.send('POST', `/holds/${key}/run`)).body).toMatchObject({
      results: [{ id, error: expect.stringContaining('already rejected (decided by person:bob)') }],
    });
    expect(await world.lines()).toEqual([]);
  });

  it('leaves a held call pending when the server stops', async () => {
    await open('hold_seconds = 1');
    const id = await world.ask('one', NO_UNDO);
    await approve(id);
    await world.holds.close();
    await sleep(1300);
    expect(await stateOf(id)).toBe('pending');
    expect(await world.lines()).toEqual([]);
    expect(await approve(id)).toMatchObject({ status: 400, body: { code: 'cancelled' } });
  });

  it('keeps the hold to signed-in people and their pages', async () => {
    await open();
    const { key } = heldOf(await approve(await world.ask('one', NO_UNDO)));
    expect((await world.raw('/holds')).status).toBe(401);
    const run = (headers: Record<string, string>) =>
      world.raw(`/holds/${key}/run`, { method: 'POST', headers });
    expect((await run({})).status).toBe(401);
    expect((await run({ cookie: world.cookie })).status).toBe(403);
    expect(await world.lines()).toEqual([]);
  });

  it('names the last decision of the person, on hold or decided, and undoes no other as the last', async () => {
    await open();
    const last = async (page: Pick<WebWorld, 'get'> = world): Promise<unknown> =>
      ((await page.get('/decisions/last')).body as { last: unknown }).last;
    expect(await last()).toBeNull();
    const [done, posted, other] = [
      await world.ask('one'),
      await world.ask('two', POST),
      await world.ask('three', POST),
    ];
    where = 'local';
    await approve(done);
    expect(await last()).toMatchObject({ kind: 'approved', id: done, count: 1, undo: { undone: false } });
    where = 'live';
    const first = heldOf(await approve(posted));
    const second = heldOf(await approve(other));
    expect(await last()).toMatchObject({ kind: 'held', id: other, hold: second.key, undo: null });
    await world.send('POST', `/holds/${second.key}/call-off`);
    expect(await last()).toMatchObject({ kind: 'held', id: posted, hold: first.key });
    await world.send('POST', `/holds/${first.key}/call-off`);
    // Called off was the last decision: what ran before it is not undone in its place.
    expect(await last()).toMatchObject({ kind: 'called_off', id: other });
    const refused = { status: 409, body: { code: 'approval_state' } };
    expect(await world.send('POST', `/inbox/${done}/undo`, { last: true })).toMatchObject(refused);
    await world.send('POST', `/inbox/${other}/reject`);
    expect(await last()).toMatchObject({ kind: 'rejected', id: other, undo: null });
    expect(await world.lines()).toEqual(['one']);

    const robin = await world.signIn({ kind: 'person', id: 'robin' });
    expect(await last(robin)).toBeNull();
    expect(await robin.send('POST', `/inbox/${done}/undo`, { last: true })).toMatchObject(refused);
    expect(await world.send('POST', `/inbox/${done}/undo`)).toMatchObject({ body: { undone: true } });
    // Undoing is no decision of its own.
    expect(await last()).toMatchObject({ kind: 'rejected', id: other });
  });
});
