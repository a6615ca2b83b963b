import type { App } from '../../app.ts';
import { pickBackend } from '../../toolkits/x/client/connect.ts';
import { xApi } from '../../toolkits/x/config.ts';
import { look } from '../act.ts';
import { bar, sparkline, thinned } from '../chart.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print, printJson, table } from '../output.ts';
import { oneLine } from '../plain-text.ts';
import { counted } from '../text.ts';

interface Performance {
  readonly measured: number;
  readonly avg_score: number | null;
  readonly avg_impressions: number | null;
}

interface Stats {
  readonly tweets: number;
  readonly replies: number;
  readonly quotes: number;
  readonly threads: number;
  readonly discovered: number;
  readonly pending_approvals: number;
  readonly followers: { readonly current: number | null; readonly change: number | null };
  readonly tweet_performance: Performance;
  readonly reply_performance: Performance;
}

interface Analytics {
  readonly followers: readonly { readonly at: string; readonly followers: number }[];
  readonly posts_per_day: readonly Readonly<Record<string, number | string>>[];
  readonly topics: readonly {
    readonly topic: string;
    readonly posts: number;
    readonly avgScore: number | null;
  }[];
  readonly best: readonly {
    readonly tweet_id: string | null;
    readonly text: string;
    readonly score: number | null;
    readonly likes: number | null;
    readonly impressions: number | null;
  }[];
}

const CHART = 48;
const DAY_MS = 86_400_000;

/** The account's last days on one screen: followers, posts a day, topics and the best posts. */
export function xStats(global: GlobalOptions, options: { days?: string }): Promise<void> {
  return withApp(global, async (app) => {
    const days = daysOf(options.days);
    const stats = await look<Stats>(app, 'x', 'stats', { days });
    const analytics = await look<Analytics>(app, 'x', 'analytics', { days });
    if (global.json) return printJson({ ...stats, analytics });
    print(`The last ${counted(days, 'day')}\n`);
    print(`Followers  ${followers(stats, analytics)}`);
    print(`Posts      ${postsByDay(app, analytics, days)}`);
    print(
      `           ${counted(stats.tweets, 'post')}, ${counted(stats.replies, 'reply', 'replies')}, ${counted(stats.quotes, 'quote')}, ${counted(stats.threads, 'thread')}; ${stats.discovered} found, ${stats.pending_approvals} waiting for approval`,
    );
    print(`Measured   posts: ${performance(stats.tweet_performance)}`);
    print(`           replies: ${performance(stats.reply_performance)}`);
    if (analytics.topics.length > 0) print(`\n${topics(analytics)}`);
    if (analytics.best.length > 0) print(`\n${best(analytics)}`);
  });
}

function followers({ followers: { current, change } }: Stats, { followers: trend }: Analytics): string {
  if (current === null) return 'not measured yet; `countersign up` takes a snapshot every hour';
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
function postsByDay(app: App, { posts_per_day }: Analytics, days: number): string {
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
  return most === 0 ? 'none' : `${sparkline(thinned(columns, CHART))}  at most ${most} a day`;
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
    ['BEST POSTS', 'SCORE', 'LIKES', 'SEEN', 'TEXT'],
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

interface Sums {
  readonly calls: number;
  readonly failures: number;
  readonly items: number;
  readonly cost_usd: number;
}

interface Usage {
  readonly x: Sums & {
    readonly endpoints: readonly (Sums & { readonly endpoint: string; readonly method: string })[];
    readonly daily: readonly (Sums & { readonly day: string })[];
  };
  readonly llm: readonly {
    readonly provider: string;
    readonly model: string;
    readonly calls: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
  }[];
  readonly limits: readonly {
    readonly action: string;
    readonly used: number;
    readonly max: number;
    readonly resetsAt: string;
  }[];
}

/** Requests and cost at X, tokens of the language model, and how much of the safety limits is used. */
export function xUsage(global: GlobalOptions, options: { days?: string }): Promise<void> {
  return withApp(global, async (app) => {
    const days = daysOf(options.days);
    const usage = await look<Usage>(app, 'x', 'usage', { days });
    if (global.json) return printJson(usage);
    const { x } = usage;
    print(
      `X in the last ${counted(days, 'day')}: ${x.calls} requests, ${x.failures} failed, ${x.items} items, about ${dollars(x.cost_usd)}`,
    );
    if (
      (await pickBackend({ settings: app.config.section(xApi), dataDir: app.config.dataDir })) === 'sandbox'
    )
      print('This is the local sandbox: the cost is what X would have charged.');
    if (x.daily.length > 1)
      print(
        `Requests a day  ${sparkline(
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
        ['SAFETY LIMIT', 'USED', 'OF', 'RESETS', ''],
        usage.limits.map((one) => [
          one.action,
          String(one.used),
          String(one.max),
          one.resetsAt.slice(0, 16).replace('T', ' '),
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
    throw new CliError(`"${text}" is not a number of days from 1 to 365.`, 2);
  return days;
}
