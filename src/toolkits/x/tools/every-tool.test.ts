import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argsOf, type CallWorld } from '../../../../test/support/calls/x.ts';
import { PERSON } from '../../../../test/support/kernel.ts';
import { namedPosts, putMedia } from '../test/support/call-world.ts';
import { dataOf, openXKit, type XKit } from '../test/support/kit.ts';
import { startModel, type TestModel } from '../test/support/model.ts';
import { curatedTools } from '../tools.ts';

describe('every curated tool', () => {
  let kit: XKit;
  let model: TestModel;
  let world: CallWorld;

  beforeAll(async () => {
    model = await startModel(() => 'A plain answer that says something of its own.');
    kit = await openXKit({
      config: {
        business: {
          product_name: 'Tidepool',
          product_keywords: ['uptime', 'status'],
          industry_topics: ['monitoring'],
        },
        targets: { accounts: ['benno_ships'] },
        llm: model.settings,
      },
    });
    const found = await kit.data('x_search_tweets', { query: 'monitoring' });
    const [first] = found.tweets as { id: string; author_id: string }[];
    if (!first) throw new Error('the sandbox has no post on outages');
    const mine = await kit.data('x_post_tweet', { text: 'A post to work with' });
    putMedia(kit.dataDir);
    world = {
      ids: {
        ...(await namedPosts(kit.sandbox)),
        $post: first.id,
        $user: first.author_id,
        $own: String(mine.id),
        $dir: kit.dataDir,
      },
      data: (tool, args) => kit.data(tool, args),
      callId: async (tool, args) => (await kit.call(tool, args)).callId,
      pending: () => pending(first.id),
      answerOnce: (text) => model.answerOnce(text),
    };
  });
  afterAll(async () => {
    await kit[Symbol.asyncDispose]();
    await model.close();
  });

  const pending = async (tweet_id: string): Promise<number> => {
    const item = await kit.kernel.approvals.propose({
      tool: 'x_like_tweet',
      args: { tweet_id },
      requester: { kind: 'agent', id: 'other' },
      reason: 'asked',
    });
    return item.id;
  };

  it.each(curatedTools.map((tool) => [tool.name, tool] as const))(
    '%s answers as its output schema says',
    async (name, tool) => {
      const args = await argsOf(world, name);
      const who = tool.effect === 'decide' ? { principal: PERSON } : {};
      const result = await kit.call(name, args, who);
      // What cannot be undone waits for a person; approving runs exactly that call.
      const outcome =
        result.outcome.status === 'routed'
          ? (await kit.kernel.approvals.approve(result.outcome.approvalId, PERSON)).outcome
          : result.outcome;
      if (!outcome) throw new Error('the approved call was not run');
      const data = dataOf(outcome);
      expect(tool.output.parse(data)).toMatchObject({ ok: true });
    },
  );
});
