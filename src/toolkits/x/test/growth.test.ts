import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, type Server, type Session, startUp } from '../../../../test/e2e/support.ts';
import { startModel, type TestModel } from './support/model.ts';

interface Reply {
  readonly text: string;
  readonly posted_by: string;
  readonly in_reply_to_id: string;
}

describe('the growth engine of `countersign up`', () => {
  let model: TestModel;
  let drafts = 0;
  let home: Home | undefined;
  let server: Server | undefined;
  let session: Session | undefined;
  beforeAll(async () => {
    model = await startModel(() => {
      drafts += 1;
      return `Draft ${drafts}: ${['tides', 'rope', 'lanterns', 'gulls', 'fog'][drafts % 5]} ${drafts * 7919}`;
    });
  });
  afterEach(async () => {
    await session?.close();
    await server?.stop();
    home?.close();
  });
  afterAll(() => model.close());

  const start = async (mode: string): Promise<Client> => {
    home = createHome(configOf(mode, model));
    server = await startUp(home);
    session = await server.connect('http');
    return session.client;
  };
  const data = async <T>(client: Client, name: string, args = {}): Promise<T> => {
    const { structuredContent } = await client.callTool({ name, arguments: args });
    return (structuredContent as { data: T }).data;
  };
  const feed = (client: Client) =>
    data<{ tweets: { source: string; matched_keyword: string | null }[] }>(client, 'get_discovery_feed', {
      min_score: 0,
      limit: 100,
    });

  it('finds, answers and measures automatically in Autopilot, each loop under its own name', async () => {
    const client = await start('autopilot');
    const replies = async () =>
      (await data<{ replies: Reply[] }>(client, 'get_recent_replies', { limit: 100 })).replies;
    await expect
      .poll(async () => new Set((await replies()).map(({ posted_by }) => posted_by)), {
        timeout: 60_000,
        interval: 500,
      })
      .toEqual(new Set(['system:discovery', 'system:mentions']));
    const targets = (await replies()).map(({ in_reply_to_id }) => in_reply_to_id);
    expect(new Set(targets).size).toBe(targets.length);
    await expect
      .poll(async () => (await data<{ count: number }>(client, 'get_follower_trend')).count, {
        timeout: 30_000,
      })
      .toBe(1);
    expect((await feed(client)).tweets).toContainEqual(
      expect.objectContaining({ source: 'search', matched_keyword: 'slow' }),
    );
  }, 120_000);

  it('only finds in Composer mode: nothing is drafted, queued or posted', async () => {
    const before = model.requests.length;
    const client = await start('composer');
    await expect
      .poll(async () => (await feed(client)).tweets.length, { timeout: 60_000, interval: 500 })
      .toBeGreaterThan(0);
    expect(await data(client, 'get_recent_replies')).toMatchObject({ count: 0 });
    expect(await data(client, 'get_pending_count')).toMatchObject({ pending_count: 0 });
    expect(model.requests.length).toBe(before);
  }, 120_000);
});

const configOf = (mode: string, model: TestModel): string => `
mode = "${mode}"
toolkits = ["x"]
[mcp_policy]
template = "none"
[business]
product_name = "Tidepool"
product_keywords = ["slow"]
[scoring]
threshold = 1
[limits]
max_replies_per_day = 100
max_replies_per_author_per_day = 100
min_action_delay_seconds = 0
max_action_delay_seconds = 0
[schedule]
active_hours_start = 0
active_hours_end = 0
[llm]
${Object.entries(model.settings)
  .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  .join('\n')}
`;
