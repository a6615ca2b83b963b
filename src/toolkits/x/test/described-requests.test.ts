import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argsOf, type CallWorld, X_CALLS } from '../../../../test/support/calls/x.ts';
import { PERSON } from '../../../../test/support/kernel.ts';
import { toolkit } from '../toolkit.ts';
import { namedPosts, putMedia } from './support/call-world.ts';
import { openDescription } from './support/description.ts';
import { startModel, type TestModel } from './support/model.ts';
import { openSignedInKit, type SignedInKit } from './support/signed-in.ts';

/** The Ads API has no such description. */
const TOOLS = X_CALLS.map(({ tool }) => tool).filter(
  (name) =>
    !name.startsWith('x_ads_') &&
    toolkit.tools.some((tool) => tool.name === name && tool.requires?.xClient && tool.effect !== 'decide'),
);

describe("requests against X's own description", () => {
  const judge = openDescription();
  let violations: string[] = [];
  let world: SignedInKit;
  let model: TestModel;
  let calls: CallWorld;

  beforeAll(async () => {
    model = await startModel(() => 'A plain answer that says something of its own.');
    world = await openSignedInKit(
      {
        before(request) {
          const text = request.body.startsWith('{') ? Buffer.from(request.body, 'latin1').toString() : '';
          const found = judge({ ...request, body: text });
          violations.push(...found);
          if (found.length === 0) return undefined;
          const json = {
            title: 'Invalid Request',
            detail: found.join('; '),
            errors: [{ message: found[0] ?? '' }],
          };
          return { status: 400, headers: {}, json };
        },
      },
      {
        config: {
          x_api: { bearer_token: 'sandbox-app-token' },
          business: {
            product_name: 'Tidepool',
            product_keywords: ['uptime'],
            industry_topics: ['monitoring'],
          },
          llm: model.settings,
        },
      },
    );
    const { kit } = world;
    const found = await kit.data('x_search_tweets', { query: 'monitoring' });
    const [first] = found.tweets as { id: string; author_id: string }[];
    if (!first) throw new Error('the sandbox has no post on monitoring');
    const mine = await kit.data('x_post_tweet', { text: 'A post to work with' });
    putMedia(kit.dataDir);
    calls = {
      ids: {
        ...(await namedPosts(kit.sandbox)),
        $post: first.id,
        $user: first.author_id,
        $own: String(mine.id),
        $dir: kit.dataDir,
      },
      data: (tool, args) => kit.data(tool, args),
      callId: async (tool, args) => (await kit.call(tool, args)).callId,
      pending: () => Promise.reject(new Error('no approvals here')),
      answerOnce: (text) => model.answerOnce(text),
    };
  });
  afterAll(async () => {
    await world.close();
    await model.close();
  });

  it('finds a parameter, a value, a path and a body that are not described', () => {
    const request = { method: 'GET', path: '/2/lists/1', query: new URLSearchParams(), body: '' };
    expect(judge(request)).toEqual([]);
    expect(judge({ ...request, query: new URLSearchParams({ 'list.fields': 'owner_id' }) })).toHaveLength(1);
    expect(judge({ ...request, query: new URLSearchParams({ 'tweet.fields': 'lang' }) })).toHaveLength(1);
    expect(judge({ ...request, path: '/2/nothing' })).toHaveLength(1);
    expect(
      judge({ method: 'POST', path: '/2/tweets', query: new URLSearchParams(), body: '{"txt":1}' }),
    ).toHaveLength(1);
  });

  it('tries every tool of the toolkit that reaches X, except the Ads API', () => {
    expect(TOOLS.length).toBe(84);
  });

  it.each(TOOLS)('%s sends only what is described', async (name) => {
    violations = [];
    world.sent.length = 0;
    const { outcome } = await world.kit.call(name, await argsOf(calls, name));
    if (outcome.status === 'routed') await world.kit.kernel.approvals.approve(outcome.approvalId, PERSON);
    expect(violations).toEqual([]);
  });
});
