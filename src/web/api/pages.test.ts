import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWebWorld, type WebWorld } from './api.fixture.ts';

describe('the routes of pages, activity and governance', () => {
  let world: WebWorld;
  beforeAll(async () => {
    world = await openWebWorld();
  });
  afterAll(() => world.close());

  it('name the enabled toolkits with their views', async () => {
    expect((await world.get('/pages')).body).toEqual({
      pages: [{ id: 'ledger', title: 'Ledger', views: ['lines'] }],
    });
    expect((await world.get('/session')).body).toMatchObject({ person: world.app.person.id, paused: false });
  });

  it('show a view with checked parameters, as the signed-in person', async () => {
    const view = (params: string) => world.get(`/pages/ledger/lines?params=${encodeURIComponent(params)}`);
    expect((await view('{"limit":3}')).body).toMatchObject({
      data: { limit: 3, person: world.app.person.id },
    });
    expect(await view('{"limit":11}')).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
    expect(await view('{"other":1}')).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
    expect(await view('[1]')).toMatchObject({
      status: 400,
      body: { error: 'params must be a JSON object.' },
    });
  });

  it('show no view of a toolkit that is not enabled, and none that does not exist', async () => {
    expect(await world.get('/pages/governance/lines')).toMatchObject({
      status: 404,
      body: { error: 'The governance toolkit is not enabled.' },
    });
    for (const name of ['nothing', 'toString', '__proto__'])
      expect((await world.get(`/pages/ledger/${name}`)).status).toBe(404);
  });

  it('call a tool under the policy, and approve it only for a person who says so', async () => {
    const call = (body: object) => world.send('POST', '/tools/ledger_write', body);
    const args = { arguments: { text: 'page' } };
    expect((await call(args)).body).toMatchObject({ status: 'routed' });
    expect(await world.lines()).not.toContain('page');
    expect((await call({ ...args, approve: true })).body).toMatchObject({ status: 'ok' });
    expect(await world.lines()).toContain('page');
    expect(await world.send('POST', '/tools/no_such_tool', {})).toMatchObject({ status: 404 });
    expect(await call({ args })).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
  });

  it('list calls by tool and status, and show one with its arguments', async () => {
    const { callId } = await world.call('ledger_read', { fail: true });
    await world.call('ledger_read', {});
    await world.app.kernel.flush();
    const { body } = await world.get('/activity?tool=ledger_read&status=failed');
    expect(body).toMatchObject({
      calls: [{ call_id: callId, status: 'failed', code: 'unavailable', principal: 'agent:local' }],
    });
    expect((await world.get(`/activity/${callId}`)).body).toMatchObject({
      call_id: callId,
      args: { fail: true },
      differences: [],
    });
    expect((await world.get('/activity/none')).status).toBe(404);
    expect((await world.get('/activity?hours=-1')).status).toBe(400);
    expect(await world.get('/runs/none/export')).toMatchObject({ status: 404 });
  });

  it('mark listed calls that differ from the log, by row, arguments or missing entries', async () => {
    const { db } = world.app.database;
    const calls = [];
    for (let index = 0; index < 4; index += 1) calls.push((await world.call('ledger_read', {})).callId);
    const [intact = '', row = '', args = ''] = calls;
    await world.app.kernel.flush();
    const stored = await db
      .selectFrom('calls')
      .selectAll()
      .where('call_id', '=', intact)
      .executeTakeFirstOrThrow();
    const invented = `${intact.slice(0, -1)}${intact.endsWith('0') ? '1' : '0'}`;
    await db
      .insertInto('calls')
      .values({ ...stored, call_id: invented })
      .execute();
    await db.updateTable('calls').set({ tool: 'x_like_tweet' }).where('call_id', '=', row).execute();
    await db
      .updateTable('audit_payloads')
      .set({ body: '{"file":"forged"}' })
      .where('call_id', '=', args)
      .execute();
    const { calls: listed } = (await world.get('/activity?limit=6')).body as {
      calls: { call_id: string; differs: boolean }[];
    };
    const differing = listed.filter(({ differs }) => differs).map(({ call_id }) => call_id);
    expect(differing.sort()).toEqual([row, args, invented].sort());
    expect(listed).toContainEqual(expect.objectContaining({ call_id: intact, differs: false }));
    await db.deleteFrom('calls').where('call_id', '=', invented).execute();
  });

  it('add an agent whose token works until it is revoked', async () => {
    const added = await world.send('POST', '/agents', { name: 'robin' });
    expect(added.status).toBe(201);
    const { token } = added.body as { token: string };
    expect(await world.app.kernel.agents.authenticate(token)).toMatchObject({ kind: 'agent', id: 'robin' });
    expect(JSON.stringify((await world.get('/agents')).body)).not.toContain(token);
    expect((await world.send('DELETE', '/agents/robin')).body).toEqual({ revoked: true });
    expect(await world.app.kernel.agents.authenticate(token)).toBeUndefined();
    expect((await world.send('DELETE', '/agents/robin')).status).toBe(404);
    expect(await world.send('POST', '/agents', { name: 'no spaces please' })).toMatchObject({
      status: 400,
      body: { code: 'validation_error' },
    });
  });

  it('show for each tool what the policy decides, for the principal that is asked about', async () => {
    const matrix = async (query = '') =>
      (await world.get(`/policy/matrix${query}`)).body as { rows: object[] };
    const { rows } = await matrix();
    expect(rows).toContainEqual(expect.objectContaining({ tool: 'ledger_write', action: 'ask' }));
    expect(rows).toContainEqual(expect.objectContaining({ tool: 'ledger_read', action: 'allow' }));
    expect(await world.get('/policy/matrix?principal=nobody')).toMatchObject({
      status: 400,
      body: { code: 'invalid_input' },
    });
  });

  it('activate a rule for the next call, and refuse one that is invalid', async () => {
    const rule = { id: 'closed', tools: ['ledger_read'], action: 'deny', reason: 'closed' };
    const current = (await world.get('/policy')).body as { overrides: { rules: object[] } };
    const put = (rules: object[]) => world.send('PUT', '/policy', { ...current.overrides, rules });
    expect(await put([{ ...rule, when: 'not ( cel' }])).toMatchObject({ status: 400 });
    expect((await world.call('ledger_read', {})).outcome.status).toBe('ok');
    expect((await put([rule])).status).toBe(200);
    expect((await world.call('ledger_read', {})).outcome).toMatchObject({ status: 'refused' });
    await put([]);
    expect((await world.call('ledger_read', {})).outcome.status).toBe('ok');
  });

  it('pause and resume changes', async () => {
    expect((await world.send('POST', '/pause')).body).toEqual({ paused: true });
    expect((await world.call('ledger_write_blind', { text: 'late' })).outcome).toMatchObject({
      status: 'refused',
      rule: 'hard:paused',
    });
    expect((await world.send('POST', '/resume')).body).toEqual({ paused: false });
    expect((await world.call('ledger_write_blind', { text: 'late' })).outcome.status).toBe('ok');
  });

  it('stream what happens to an open page, with the position to continue from', async () => {
    const stop = new AbortController();
    const response = await world.raw('/events', { headers: { cookie: world.cookie }, signal: stop.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const until = async (pattern: RegExp): Promise<string> => {
      let text = '';
      while (!pattern.test(text)) {
        const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) throw new Error(`The stream ended after: ${text}`);
        text += value;
      }
      return text;
    };
    const { listener } = JSON.parse(
      /event: hello\ndata: (.+)\n/.exec(await until(/event: hello\ndata: .+\n/))?.[1] ?? '{}',
    ) as { listener: string };
    expect(listener).toMatch(/\S/);
    const id = await world.ask('streamed');
    expect(await until(new RegExp(`event: approvals\\ndata: .*"id":${id}.*\\nid: \\d+`))).toContain(
      '"pending"',
    );
    await reader?.cancel();
    stop.abort();
    expect((await world.raw('/events')).status).toBe(401);
  });
});
