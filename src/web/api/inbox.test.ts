import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWebWorld, type WebWorld } from './api.fixture.ts';

describe('the inbox routes', () => {
  let world: WebWorld;
  beforeEach(async () => {
    world = await openWebWorld();
  });
  afterEach(() => world.close());

  it('list pending approvals with their exact arguments, and briefly without', async () => {
    const id = await world.ask('one');
    const { body } = await world.get('/inbox');
    expect(body).toMatchObject({
      total: 1,
      items: [{ id, state: 'pending', args: { text: 'one' }, requester: 'agent:local' }],
      indeterminate: [],
    });
    const brief = (await world.get('/inbox?brief=1')).body as { items: object[] };
    expect(brief.items[0]).toMatchObject({ id, risks: 0 });
    expect(brief.items[0]).not.toHaveProperty('args');
    expect((await world.get('/inbox?state=done')).body).toMatchObject({ total: 0, items: [] });
    expect((await world.get('/inbox?toolkit=other')).body).toMatchObject({ total: 0 });
  });

  it('keep a list as it was and count what came since, and keep the groups together', async () => {
    const first = await world.ask('one');
    const { as_of } = (await world.get('/inbox?brief=1')).body as { as_of: number };
    const second = await world.ask('two');
    const page = await world.get(`/inbox?brief=1&until=${as_of}`);
    expect(page.body).toMatchObject({ total: 1, newer: 1, as_of: first, items: [{ id: first }] });
    expect((await world.get('/inbox?brief=1')).body).toMatchObject({ total: 2, newer: 0, as_of: second });
    for (const group of ['agent', 'run', 'newest'])
      expect((await world.get(`/inbox?brief=1&group=${group}`)).body, group).toMatchObject({
        items: [{ id: second }, { id: first }],
      });
    expect((await world.get('/inbox?group=colour')).status).toBe(400);
    const matching = { filter: { state: 'pending', until: first }, total: 1, reason: 'no' };
    expect((await world.send('POST', '/inbox/reject-matching', matching)).body).toEqual({ rejected: 1 });
    expect((await world.get('/inbox')).body).toMatchObject({ total: 1, items: [{ id: second }] });
  });

  it('refuse a page size out of range and an approval that does not exist', async () => {
    expect(await world.get('/inbox?limit=201')).toMatchObject({
      status: 400,
      body: { code: 'invalid_input' },
    });
    expect(await world.get('/inbox/77')).toMatchObject({
      status: 404,
      body: { error: 'Approval 77 not found.', code: 'not_found' },
    });
  });

  it('run an approved call in the name of its requester', async () => {
    const id = await world.ask('one');
    const reply = await world.send('POST', `/inbox/${id}/approve`, { note: 'fine' });
    expect(reply.body).toMatchObject({
      state: 'done',
      decided_by: `person:${world.app.person.id}`,
      result: { status: 'ok', data: { written: 'one', by: 'local', approved_by: world.app.person.id } },
    });
    expect(await world.lines()).toEqual(['one']);
    expect((await world.get('/inbox/count')).body).toEqual({ total: 0 });
  });

  it('approve nothing that was edited since the person saw it', async () => {
    const id = await world.ask('one');
    const edited = await world.send('POST', `/inbox/${id}/edit`, { args: { text: 'two' } });
    expect(edited.body).toMatchObject({ version: 2, args: { text: 'two' } });
    const stale = await world.send('POST', `/inbox/${id}/approve`, { version: 1 });
    expect(stale.status).toBe(409);
    expect(await world.lines()).toEqual([]);
    await world.send('POST', `/inbox/${id}/approve`, { version: 2 });
    expect(await world.lines()).toEqual(['two']);
    expect((await world.get(`/inbox/${id}`)).body).toMatchObject({
      tool_title: 'Write to the ledger',
      edits: [{ before: { text: 'one' }, after: { text: 'two' } }],
      undo: { tool: 'ledger_erase', calls: 1, undone: false },
    });
  });

  it('report each of several decisions separately', async () => {
    const id = await world.ask('one');
    const { body } = await world.send('POST', '/inbox/reject', { ids: [id, 77], reason: 'no' });
    expect(body).toMatchObject({
      results: [
        { id, state: 'rejected', decision_reason: 'no' },
        { id: 77, code: 'not_found' },
      ],
    });
    expect(await world.send('POST', `/inbox/${id}/approve`)).toMatchObject({
      status: 409,
      body: { code: 'approval_state' },
    });
    expect(await world.lines()).toEqual([]);
  });

  it('let a person settle an unknown outcome once', async () => {
    const { callId } = await world.call('ledger_write_blind', { text: 'maybe', fail: true });
    expect((await world.get('/inbox')).body).toMatchObject({ indeterminate: [{ call_id: callId }] });
    const settle = () => world.send('POST', `/calls/${callId}/settle`, { happened: true });
    expect((await settle()).body).toEqual({ settled: true });
    expect((await settle()).status).toBe(409);
    expect((await world.get('/inbox')).body).toMatchObject({ indeterminate: [] });
  });

  it('mark what is not what was requested in the list, and reject it on its page', async () => {
    const [id, other] = [await world.ask('one'), await world.ask('two')];
    const { db } = world.app.database;
    await db.updateTable('approvals').set({ summary: 'Read a line' }).where('id', '=', id).execute();
    for (const path of ['/inbox', '/inbox?brief=1']) {
      const { items } = (await world.get(path)).body as { items: { id: number; differs?: true }[] };
      expect(
        items.map((one) => [one.id, one.differs]),
        path,
      ).toEqual([
        [other, undefined],
        [id, true],
      ]);
    }
    expect((await world.get('/notices?after=0')).body).toMatchObject({
      notices: [
        { id: other, title: 'Write “…” to the ledger (local)' },
        {
          id,
          title: `Approval ${id} differs from the log. Run \`countersign audit verify\`.`,
          requester: '',
        },
      ],
    });
    expect(await world.get(`/inbox/${id}`)).toMatchObject({
      status: 400,
      body: { code: 'approval_invalid' },
    });
    expect((await world.send('POST', `/inbox/${id}/reject`, {})).body).toMatchObject({ state: 'rejected' });
    await world.send('POST', `/inbox/${other}/reject`, {});
    expect((await world.get('/inbox?state=rejected&brief=1')).body).toMatchObject({
      items: [expect.not.objectContaining({ differs: true }), { id, differs: true }],
    });
  });

  it.each([
    ['outcome', '{"status":"ok","data":{"written":"another"},"notes":{}}'],
    ['args', '{"text":"another"}'],
  ] as const)('undo nothing by a row whose %s was changed', async (column, value) => {
    await world.call('ledger_write_blind', { text: 'another' });
    const id = await world.ask('one');
    await world.send('POST', `/inbox/${id}/approve`, {});
    expect((await world.get(`/inbox/${id}`)).body).toMatchObject({ undo: { tool: 'ledger_erase' } });
    await world.app.database.db
      .updateTable('approvals')
      .set({ [column]: value })
      .execute();
    expect((await world.get(`/inbox/${id}`)).body).toMatchObject({
      undo: null,
      differences: [expect.any(String)],
    });
    expect(await world.send('POST', `/inbox/${id}/undo`)).toMatchObject({
      status: 400,
      body: {
        code: 'approval_invalid',
        error: expect.stringMatching(/is not what the audit log has.*Nothing was undone\./),
      },
    });
    expect(await world.lines()).toEqual(['another', 'one']);
  });

  it('let a person reject what cannot be read, and say so until it is rejected', async () => {
    const id = await world.ask('one');
    await world.app.database.db.updateTable('approvals').set({ args: '{' }).execute();
    const detail = { id, column: 'args', state: 'pending' };
    expect(await world.get(`/inbox/${id}`)).toMatchObject({
      status: 400,
      body: {
        code: 'db_error',
        detail,
        hint: expect.stringContaining('Its column args was damaged or changed'),
      },
    });
    expect((await world.send('POST', `/inbox/${id}/reject`, { reason: 'no' })).body).toMatchObject({
      damaged: true,
      state: 'rejected',
    });
    expect((await world.get(`/inbox/${id}`)).body).toMatchObject({
      detail: { ...detail, state: 'rejected' },
    });
  });

  it('reject what cannot be read with all that matches, but nothing whose requester is damaged', async () => {
    const ids = [await world.ask('one'), await world.ask('two'), await world.ask('three')];
    const { db } = world.app.database;
    await db
      .updateTable('approvals')
      .set({ args: '{' })
      .where('id', '=', ids[0] ?? 0)
      .execute();
    await db
      .updateTable('approvals')
      .set({ requester: 'mallory' })
      .where('id', '=', ids[1] ?? 0)
      .execute();
    const matching = (total: number) => ({ filter: { state: 'pending' }, total });
    expect(await world.send('POST', '/inbox/reject-matching', matching(2))).toMatchObject({
      status: 409,
      body: { error: '3 approvals match now, not 2. Review the list before you decide.' },
    });
    expect((await world.send('POST', '/inbox/reject-matching', matching(3))).body).toEqual({ rejected: 2 });
    const states = await db.selectFrom('approvals').select(['id', 'state']).orderBy('id').execute();
    expect(states.map(({ state }) => state)).toEqual(['rejected', 'pending', 'rejected']);
    expect(await world.lines()).toEqual([]);
  });

  it('decide nothing without the token of the page, or without a session', async () => {
    const id = await world.ask('one');
    const approve = (headers: Record<string, string>) =>
      world.raw(`/inbox/${id}/approve`, { method: 'POST', headers, body: '{}' });
    expect((await approve({ cookie: world.cookie })).status).toBe(403);
    expect((await approve({})).status).toBe(401);
    const token = await world.app.kernel.agents.add('robin', world.app.person);
    expect((await approve({ authorization: `Bearer ${token}` })).status).toBe(401);
    expect(await world.lines()).toEqual([]);
  });
});
