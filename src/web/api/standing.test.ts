import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalPresentation } from '../../contract/presentation.ts';
import type { StandingDraft } from '../../contract/standing.ts';
import { openWebWorld, type WebWorld } from './api.fixture.ts';

describe('standing approvals on the pages', () => {
  let web: WebWorld;
  beforeEach(async () => {
    web = await openWebWorld();
  });
  afterEach(() => web.close());

  it('are drafted from an approval, tested, saved together with its approval, counted and revoked', async () => {
    const first = await web.ask('note one');
    const { body: drafted } = await web.get(`/standing/draft/${first}`);
    const { draft } = drafted as { draft: StandingDraft };
    expect(drafted).toMatchObject({ sentence: expect.stringContaining('text exactly “note one”') });
    const wider = { ...draft, predicates: [{ arg: 'text', op: 'starts_with', text: 'note' }], uses: 1 };
    expect((await web.send('POST', '/standing/test', { draft: wider })).body).toMatchObject({
      sentence: expect.stringContaining('text starting with “note”, once'),
      test: { of: 0 },
    });
    const saved = await web.send('POST', '/standing', { draft: wider, approve: { id: first, version: 1 } });
    expect(saved).toMatchObject({ status: 201, body: { approval: { state: 'done' } } });
    expect((await web.call('ledger_write', { text: 'note two' })).outcome.status).toBe('ok');
    expect((await web.call('ledger_write', { text: 'note three' })).outcome.status).toBe('routed');
    expect(await web.lines()).toEqual(['note one', 'note two']);
    const { body } = await web.get('/standing');
    const { standing } = body as { standing: { id: number }[] };
    expect(standing).toMatchObject([{ used: 1, uses: 1, state: 'used_up' }]);
    expect((await web.send('POST', `/standing/${standing[0]?.id}/revoke`)).body).toEqual({ revoked: true });
    expect((await web.send('POST', `/standing/${standing[0]?.id}/revoke`)).status).toBe(404);
  });

  it('are not saved when the call they came with was changed since', async () => {
    const id = await web.ask('note');
    const { body } = await web.get(`/standing/draft/${id}`);
    const { draft } = body as { draft: StandingDraft };
    await web.send('POST', `/inbox/${id}/edit`, { args: { text: 'other' } });
    expect((await web.send('POST', '/standing', { draft, approve: { id, version: 1 } })).status).toBe(409);
    expect((await web.get('/standing')).body).toMatchObject({ standing: [{ state: 'revoked', used: 0 }] });
    expect(await web.lines()).toEqual([]);
  });

  it('are refused for a destructive call, with the reason on the item', async () => {
    const { outcome } = await web.call('ledger_erase', { text: 'x' });
    if (outcome.status !== 'routed') throw new Error('not asked');
    const { body } = await web.get(`/inbox/${outcome.approvalId}`);
    const { presentation } = body as { presentation: ApprovalPresentation };
    expect(presentation.remember).toEqual({
      possible: false,
      why: 'Destructive calls require approval each time.',
    });
    expect((await web.get(`/standing/draft/${outcome.approvalId}`)).status).toBeGreaterThanOrEqual(400);
  });
});

describe('the inbox', () => {
  let web: WebWorld;
  beforeEach(async () => {
    web = await openWebWorld();
  });
  afterEach(() => web.close());

  it('rejects all that match a filter with one reason, unless another number matches by now', async () => {
    for (const text of ['spam 1', 'spam 2', 'fine']) await web.ask(text);
    const reject = (total: number) =>
      web.send('POST', '/inbox/reject-matching', { filter: { q: 'spam' }, total, reason: 'No.' });
    expect((await reject(3)).status).toBe(409);
    expect((await reject(2)).body).toEqual({ rejected: 2 });
    expect((await web.get('/inbox?state=rejected')).body).toMatchObject({
      total: 2,
      items: [{ decision_reason: 'No.' }, { decision_reason: 'No.' }],
    });
    expect((await web.get('/inbox')).body).toMatchObject({ total: 1 });
  });

  it('gives each item its presentation, and lists filter and count', async () => {
    const id = await web.ask('Hello 100 %');
    await web.ask('Another');
    const { body } = await web.get(`/inbox/${id}`);
    expect((body as { presentation: ApprovalPresentation }).presentation).toMatchObject({
      title: 'Write “Hello 100 %” to the ledger (local)',
      target: { environment: 'local' },
      undo: { possible: true },
      rule: { sentence: 'This tool is on the list of tools that require approval.' },
      reason: null,
      usual: null,
      needs_signature: false,
      stale: null,
    });
    const found = await web.get('/inbox?brief=1&facets=1&q=100%20%25');
    expect(found.body).toMatchObject({
      total: 1,
      items: [{ id, environment: 'local', gist: 'Hello 100 %' }],
      facets: { tool: [{ value: 'ledger_write', count: 1 }], environment: [{ value: 'local', count: 1 }] },
    });
    for (const [query, total] of [
      ['agent=agent:local', 2],
      ['agent=agent:mira', 0],
      ['environment=live', 0],
      ['environment=local,live', 2],
      ['effect=destroy', 0],
      ['toolkit=ledger', 2],
      ['tool=ledger_write&newer=1h', 2],
      ['older=1h', 0],
      ['q=100_%25', 0],
    ] as const)
      expect((await web.get(`/inbox?brief=1&${query}`)).body, query).toMatchObject({ total });
  });
});
