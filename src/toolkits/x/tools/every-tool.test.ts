import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PERSON } from '../../../../test/support/kernel.ts';
import { curatedCalls } from '../../../../test/support/x-curated-calls.ts';
import { dataOf, openXKit, type XKit } from '../../../../test/support/x-kit.ts';
import { startModel, type TestModel } from '../../../../test/support/x-model.ts';
import { curatedTools } from '../tools.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('every curated tool', () => {
  let kit: XKit;
  let model: TestModel;
  let ids: { post: string; user: string; own: string };

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
    ids = { post: first.id, user: first.author_id, own: String(mine.id) };
    mkdirSync(join(kit.dataDir, 'media'), { recursive: true });
    writeFileSync(join(kit.dataDir, 'media', 'dot.png'), PNG);
  });
  afterAll(async () => {
    await kit[Symbol.asyncDispose]();
    await model.close();
  });

  const pending = async (): Promise<number> => {
    const item = await kit.kernel.approvals.propose({
      tool: 'x_like_tweet',
      args: { tweet_id: ids.post },
      requester: { kind: 'agent', id: 'other' },
      reason: 'asked',
    });
    return item.id;
  };

  const calls = () =>
    curatedCalls({
      ...ids,
      dataDir: kit.dataDir,
      data: (tool, args) => kit.data(tool, args),
      callId: async (tool, args) => (await kit.call(tool, args)).callId,
      pending,
      answerOnce: (text) => model.answerOnce(text),
    });

  it.each(curatedTools.map((tool) => [tool.name, tool] as const))(
    '%s answers as its output schema says',
    async (name, tool) => {
      const args = (await calls()[name]?.()) ?? {};
      const who = tool.effect === 'decide' ? { principal: PERSON } : {};
      const result = await kit.call(name, args, who);
      if (name === 'x_put') {
        // Only replies to one's own conversation can be hidden; that X says so proves the request got there.
        expect(result.outcome).toMatchObject({ status: 'failed' });
        return;
      }
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
