import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openWebWorld, type WebWorld } from './api.fixture.ts';

describe('agents through the web API', () => {
  let world: WebWorld;
  beforeEach(async () => {
    world = await openWebWorld();
  });
  afterEach(() => world.close());

  it('pauses and resumes an agent, with a token or without', async () => {
    await world.send('POST', '/agents', { name: 'robin' });
    for (const name of ['robin', 'local'])
      expect(await world.send('POST', `/agents/${name}/pause`)).toEqual({
        status: 200,
        body: { name, paused: true, changed: true },
      });
    const by = `person:${world.app.person.id}`;
    expect((await world.get('/agents')).body).toMatchObject({
      agents: [{ name: 'robin', paused_by: by }],
      paused: { robin: by, local: by },
    });
    const { outcome } = await world.call('ledger_read', {});
    expect(outcome).toMatchObject({ status: 'refused', fault: { code: 'agent_paused' } });
    await world.send('POST', '/agents/local/resume');
    expect((await world.get('/agents')).body).toMatchObject({ paused: { robin: by } });
    expect((await world.send('POST', '/agents/nobody/pause')).status).toBe(404);
  });

  it('keeps the path of a session out of the server log', async () => {
    const error = vi.spyOn(world.app.log, 'error').mockImplementation(() => {});
    vi.spyOn(world.app.kernel.agents, 'list').mockRejectedValue(new Error('broken'));
    const headers = { cookie: world.cookie };
    expect((await world.raw('/s/secret-of-the-session/agents', { headers })).status).toBe(500);
    expect(error).toHaveBeenCalledWith('A request of the web app failed', {
      path: '/api/s/…/agents',
      error: expect.any(Error),
    });
  });

  it('needs a signed-in person', async () => {
    expect((await world.raw('/agents/local/pause', { method: 'POST' })).status).toBe(401);
    const { headers } = { headers: { cookie: world.cookie } };
    expect((await world.raw('/agents/local/pause', { method: 'POST', headers })).status).toBe(403);
  });
});
