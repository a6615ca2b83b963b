import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { webPorts } from '../app/web-ports.ts';
import { openWebWorld, type WebWorld } from './api/api.fixture.ts';
import { createWebApp } from './server.ts';

const NO_TOKEN = { scrapeToken: undefined };
const TOKEN = 'scrape-me-0123456789';

describe('GET /metrics', () => {
  let world: WebWorld;
  beforeEach(async () => {
    world = await openWebWorld();
  });
  afterEach(() => world.close());

  const scrape = (
    headers: Record<string, string>,
    configured = { scrapeToken: TOKEN as string | undefined },
  ) => createWebApp({ ...webPorts(world.app), ...configured }).request('/metrics', { headers });

  it('is for signed-in people and for the scrape token only', async () => {
    const agent = await world.app.kernel.agents.add('robin', world.app.person);
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: `Bearer ${agent}` }])
      expect((await scrape(headers as Record<string, string>)).status).toBe(401);
    expect((await scrape({ authorization: `Bearer ${TOKEN}` }, NO_TOKEN)).status).toBe(401);
    expect((await scrape({ authorization: 'Bearer undefined' }, NO_TOKEN)).status).toBe(401);
    expect((await scrape({ authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    expect((await scrape({ cookie: world.cookie })).status).toBe(200);
  });

  it('answers a browser under the path that its session is sent to', async () => {
    expect((await world.raw('/metrics')).status).toBe(401);
    const response = await world.raw('/metrics', { headers: { cookie: world.cookie } });
    expect(await response.text()).toContain('countersign_calls_total');
  });

  it('shows calls, decisions, durations and the queue, and no arguments', async () => {
    await world.call('ledger_read', { echo: 'a secret' });
    await world.call('ledger_read', { fail: true });
    await world.ask('a secret too');
    const response = await scrape({ authorization: `Bearer ${TOKEN}` });
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const text = await response.text();
    for (const line of [
      'countersign_calls_total{tool="ledger_read",effect="read",status="ok",code=""} 1',
      'countersign_calls_total{tool="ledger_read",effect="read",status="failed",code="unavailable"} 1',
      'countersign_calls_total{tool="ledger_write",effect="change",status="routed",code=""} 1',
      'countersign_decisions_total{action="allow"} 2',
      'countersign_decisions_total{action="ask"} 1',
      'countersign_call_duration_seconds_bucket{effect="read",le="+Inf"} 2',
      'countersign_call_duration_seconds_count{effect="read"} 2',
      'countersign_approvals_pending 1',
      'countersign_evidence_writable 1',
      'countersign_paused 0',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).toMatch(/^countersign_approvals_oldest_pending_seconds \d/m);
    expect(text).not.toContain('secret');
    // Every sample belongs to a family that is described, and every line is a sample or a comment.
    for (const line of text.trim().split('\n'))
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? [\d.e+-]+)$/);
  });
});
