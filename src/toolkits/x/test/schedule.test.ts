import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, startUp } from '../../../../test/e2e/support.ts';

/** The sandbox's own word on what was posted. */
const posts = (home: Home, text: string): number => {
  const answer = JSON.parse(
    home.cli('call', 'x_search_tweets', '--args', JSON.stringify({ query: text })),
  ) as {
    data: { tweets?: { text: string }[] };
  };
  return (answer.data.tweets ?? []).filter((one) => one.text === text).length;
};

// Both wait most of the time, so they wait together.
describe.concurrent.each(['autopilot', 'composer'])('a scheduled post in %s mode', (mode) => {
  let home: Home;
  beforeAll(() => {
    home = createHome(
      `mode = "${mode}"\ntoolkits = ["x"]\n[schedule]\nactive_hours_start = 0\nactive_hours_end = 23\n`,
    );
  });
  afterAll(() => home.close());

  const schedule = (text: string, due: number): void => {
    const scheduled_for = new Date(due).toISOString();
    const { stderr } = home.failing(
      'call',
      'compose_tweet',
      '--args',
      JSON.stringify({ content: text, scheduled_for }),
    );
    const waiting = JSON.parse(home.cli('approvals', 'list', '--json')) as { id: number }[];
    for (const { id } of waiting) home.cli('approvals', 'approve', String(id));
    expect(stderr).not.toContain('Error');
  };
  const until = async (text: string, seconds: number): Promise<number> => {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(2000))
      if (posts(home, text) > 0) break;
    return posts(home, text);
  };

  it('goes out once with two daemons running, one of them killed without warning', async () => {
    const text = `Scheduled words in ${mode} mode`;
    // Three commands come before it, and each may take its time on a busy machine.
    const due = Date.now() + 45_000;
    schedule(text, due);
    const [first, second] = await Promise.all([startUp(home), startUp(home)]);
    await sleep(Math.max(0, due - Date.now()));
    first.kill();
    expect(await until(text, 60)).toBe(1);
    await sleep(3_000);
    expect(posts(home, text)).toBe(1);
    await second.stop();
    expect(home.cli('audit', 'verify')).toContain('No problems found.');
  }, 180_000);
});
