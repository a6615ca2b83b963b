import { CliError, type CommandApp, type CommandHost } from '../../../contract/command.ts';
import type { ViewData } from '../../../contract/view.ts';
import { print, printJson, table } from '../../../terminal/output.ts';
import { bar, counted, oneLine, sparkline, thinned } from '../../../terminal/text.ts';
import { pickBackend } from '../client/connect.ts';
import { xApi } from '../config.ts';
import { views } from '../views.ts';

type Performance = ViewData<typeof views.stats>['tweet_performance'];

type Stats = ViewData<typeof views.stats>;

type Analytics = ViewData<typeof views.analytics>;

const CHART = 48;
const DAY_MS = 86_400_000;

/** The account's last days on one screen: followers, posts a day, topics and the best posts. */
export function xStats(host: CommandHost, options: { days?: string }): Promise<void> {
  return host.open(async (app) => {
    const days = daysOf(options.days);
    const stats = await app.view(views, 'stats', { days });
    const analytics = await app.view(views, 'analytics', { days });
    if (host.options.json) return printJson({ ...stats, analytics });
    print(`Last ${counted(days, 'day')}\n`);
    print(`Followers  ${followers(stats, analytics)}`);
    print(`Posts      ${postsByDay(app, analytics, days)}`);
    print(
      `           ${counted(stats.tweets, 'post')}, ${counted(stats.replies, 'reply', 'replies')}, ${counted(stats.quotes, 'quote')}, ${counted(stats.threads, 'thread')}; ${stats.discovered} discovered, ${stats.pending_approvals} pending approval`,
    );
    print(`Measured   posts: ${performance(stats.tweet_performance)}`);
    print(`           replies: ${performance(stats.reply_performance)}`);
    if (analytics.topics.length > 0) print(`\n${topics(analytics)}`);
    if (analytics.best.length > 0) print(`\n${best(analytics)}`);
  });
}

function followers({ followers: { current, change } }: Stats, { followers: trend }: Analytics): string {
  if (current === null) return 'not measured yet (`countersign up` takes a snapshot every hour)';
  const moved = change === null ? '' : ` (${change >= 0 ? '+' : ''}${change})`;
  const line = sparkline(
    thinned(
      trend.map((point) => point.followers),
      CHART,
    ),
  );
  return `${line}  ${current}${moved}`;
}

/** One column per day, the days without a post included. */
function postsByDay(app: CommandApp, { posts_per_day }: Analytics, days: number): string {
  const counts = new Map(
    posts_per_day.map(({ day, ...kinds }) => [
      String(day),
      Object.values(kinds).reduce<number>((sum, count) => sum + Number(count), 0),
    ]),
  );
  const now = app.now().getTime();
  const columns = Array.from({ length: days }, (_, at) => {
    const day = new Date(now - (days - 1 - at) * DAY_MS).toISOString().slice(0, 10);
    return counts.get(day) ?? 0;
  });
  const most = Math.max(...columns);
  return most === 0 ? 'none' : `${sparkline(thinned(columns, CHART))}  at most ${most} per day`;
}

const performance = ({ measured, avg_score, avg_impressions }: Performance): string =>
  measured === 0
    ? 'none yet'
    : `${measured} measured, average score ${(avg_score ?? 0).toFixed(1)}, ${Math.round(avg_impressions ?? 0)} impressions`;

function topics({ topics: all }: Analytics): string {
  const shown = all.slice(0, 8);
  const most = Math.max(...shown.map(({ avgScore }) => avgScore ?? 0));
  return table(
    ['TOPIC', 'POSTS', 'SCORE', ''],
    shown.map(({ topic, posts, avgScore }) => [
      oneLine(topic, 30),
      String(posts),
      avgScore === null ? '-' : avgScore.toFixed(1),
      bar(avgScore ?? 0, most),
    ]),
  );
}

const best = ({ best: posts }: Analytics): string =>
  table(
    ['BEST POSTS', 'SCORE', 'LIKES', 'IMPRESSIONS', 'TEXT'],
    posts
      .slice(0, 5)
      .map((post) => [
        post.tweet_id ?? '',
        (post.score ?? 0).toFixed(1),
        String(post.likes ?? 0),
        String(post.impressions ?? 0),
        oneLine(post.text, 60),
      ]),
  );

/** Requests and cost at X, tokens of the language model, and how much of the safety limits is used. */
export function xUsage(host: CommandHost, options: { days?: string }): Promise<void> {
  return host.open(async (app) => {
    const days = daysOf(options.days);
    const usage = await app.view(views, 'usage', { days });
    if (host.options.json) return printJson(usage);
    const { x } = usage;
    print(
      `X in the last ${counted(days, 'day')}: ${counted(x.calls, 'request')}, ${x.failures} failed, ${counted(x.items, 'item')}, about ${dollars(x.cost_usd)}`,
    );
    if ((await pickBackend({ settings: app.section(xApi), dataDir: app.dataDir })) === 'sandbox')
      print('These are sandbox requests: the cost is what X would have charged.');
    if (x.daily.length > 1)
      print(
        `Requests/day    ${sparkline(
          thinned(
            x.daily.map(({ calls }) => calls),
            CHART,
          ),
        )}`,
      );
    if (x.endpoints.length > 0) {
      const most = Math.max(...x.endpoints.map(({ calls }) => calls));
      print('');
      print(
        table(
          ['REQUEST', 'CALLS', 'FAILED', 'ITEMS', 'COST', ''],
          [...x.endpoints]
            .sort((a, b) => b.calls - a.calls)
            .slice(0, 15)
            .map((one) => [
              `${one.method} ${one.endpoint}`,
              String(one.calls),
              String(one.failures),
              String(one.items),
              dollars(one.cost_usd),
              bar(one.calls, most),
            ]),
        ),
      );
    }
    if (usage.llm.length > 0) {
      print('');
      print(
        table(
          ['MODEL', 'CALLS', 'TOKENS IN', 'TOKENS OUT'],
          usage.llm.map((one) => [
            `${one.provider} ${one.model}`,
            String(one.calls),
            String(one.input_tokens),
            String(one.output_tokens),
          ]),
        ),
      );
    }
    print('');
    print(
      table(
        ['SAFETY LIMIT', 'USED', 'MAX', 'RESETS', ''],
        usage.limits.map((one) => [
          one.action,
          String(one.used),
          String(one.max),
          `${one.resetsAt.slice(0, 16)}Z`,
          bar(one.used, one.max, 10),
        ]),
      ),
    );
  });
}

const dollars = (value: number): string => `$${value.toFixed(value < 1 ? 4 : 2)}`;

function daysOf(text = '7'): number {
  const days = Number(text.replace(/d$/, ''));
  if (!Number.isInteger(days) || days < 1 || days > 365)
    throw new CliError(`Invalid number of days "${text}". Use a number from 1 to 365.`, 2);
  return days;
}
