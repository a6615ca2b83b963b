import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argsOf, type CallWorld, X_CALLS } from '../../../../test/support/calls/x.ts';
import { PERSON } from '../../../../test/support/kernel.ts';
import { isChange } from '../../../contract/tool.ts';
import { toolkit } from '../toolkit.ts';
import { namedPosts, putMedia } from './support/call-world.ts';
import { openSignedInKit, type SignedInKit } from './support/signed-in.ts';

/** Every change that reaches X over the described API; X's description requires no field in any of these replies. */
const CHANGES = toolkit.tools.filter(
  ({ name, effect, requires }) =>
    isChange(effect) &&
    requires?.userAuth &&
    !name.startsWith('x_ads_') &&
    X_CALLS.some(({ tool }) => tool === name),
);

describe.each([
  ['no data', {}],
  ['empty data', { data: {} }],
])('a change to which X answers with %s', (_what, minimal) => {
  let world: SignedInKit;
  let calls: CallWorld;
  let bare = false;

  beforeAll(async () => {
    world = await openSignedInKit({
      after: ({ method }, answer) =>
        bare && method !== 'GET' && answer.status < 300 ? { ...answer, json: minimal } : undefined,
    });
    const { kit } = world;
    const found = await kit.data('x_search_tweets', { query: 'monitoring' });
    const [first] = found.tweets as { id: string; author_id: string }[];
    const mine = await kit.data('x_post_tweet', { text: 'A post to work with' });
    putMedia(kit.dataDir);
    calls = {
      ids: {
        ...(await namedPosts(kit.sandbox)),
        $post: first?.id ?? '',
        $user: first?.author_id ?? '',
        $own: String(mine.id),
        $dir: kit.dataDir,
      },
      data: (tool, args) => kit.data(tool, args),
      callId: async (tool, args) => (await kit.call(tool, args)).callId,
      pending: () => Promise.reject(new Error('no approvals here')),
      answerOnce: () => {},
    };
  });
  afterAll(() => world.close());

  it('is tried for every one of them', () => expect(CHANGES.length).toBeGreaterThan(30));

  it.each(CHANGES.map((tool) => [tool.name, tool] as const))(
    '%s does not look failed',
    async (name, tool) => {
      bare = false;
      const args = await argsOf(calls, name);
      bare = true;
      const result = await world.kit.call(name, args);
      const outcome =
        result.outcome.status === 'routed'
          ? (await world.kit.kernel.approvals.approve(result.outcome.approvalId, PERSON)).outcome
          : result.outcome;
      // Without its ID an upload is of no use, and it changes nothing on the account.
      if (name === 'x_upload_media') return expect(outcome?.status).toBe('failed');
      expect(outcome).toMatchObject({ status: 'ok' });
      if (outcome?.status !== 'ok') return;
      expect(tool.output.parse(outcome.data)).toMatchObject({ ok: true });
      const undone = /^x_un(like|retweet|bookmark|follow)/.test(name);
      const contradiction = undone
        ? /"(liked|retweeted|bookmarked|following)":true/
        : /"(liked|retweeted|bookmarked|following|deleted)":false/;
      expect(JSON.stringify(outcome.data)).not.toMatch(contradiction);
    },
  );
});
