import { afterEach, describe, expect, it } from 'vitest';
import { PERSON } from '../../../../test/support/kernel.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { openXKit, type XKit } from '../test/support/kit.ts';
import { views } from '../views.ts';
import { served } from './views.ts';

describe('the views for people', () => {
  let kit: XKit;
  afterEach(() => kit[Symbol.asyncDispose]());

  const show = async (name: keyof typeof views, params: JsonObject = {}) =>
    (await served[name](params, { services: kit.services, person: PERSON })) as JsonObject;

  it('all give what their schema says on a fresh installation', async () => {
    kit = await openXKit();
    for (const [name, { output }] of Object.entries(views)) {
      const shown = await show(name as keyof typeof views);
      expect(output.parse(shown), name).toEqual(shown);
    }
  });

  it('say that this is the sandbox', async () => {
    kit = await openXKit();
    expect(await show('provider')).toMatchObject({
      sandbox: true,
      provider: { backend: 'sandbox' },
      mode: 'autopilot',
    });
  });

  it('show drafts, what is scheduled, and what was posted', async () => {
    kit = await openXKit();
    await kit.data('compose_tweet', { content: 'A draft' });
    await kit.data('compose_tweet', { content: 'For tomorrow', scheduled_for: '2026-02-26T09:00:00Z' });
    expect(await show('drafts')).toMatchObject({ items: [{ content: 'A draft', status: 'draft' }] });
    expect(await show('schedule')).toMatchObject({
      timezone: 'UTC',
      upcoming: [{ content: 'For tomorrow' }],
      past: [],
    });
  });

  it('show use and cost', async () => {
    kit = await openXKit();
    await kit.data('x_post_tweet', { text: 'Costs a cent' });
    expect(await show('usage', { days: '3' })).toMatchObject({
      x: { days: 3, calls: expect.any(Number) },
      limits: expect.arrayContaining([expect.objectContaining({ action: 'tweet', used: 1 })]),
    });
    expect(await show('analytics')).toMatchObject({ posts_per_day: [{ day: '2026-02-25', tweet: 1 }] });
  });
});
