import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { HOSTILE, LONG_LINE } from './pages-seed.ts';

const DAY_MS = 86_400_000;
export const PAST_DAYS = 20;

/** What the charts must show of the past, day by day, oldest first. */
export const pastDay = (days: number): string => ago(days).slice(0, 10);
export const pastCalls = (days: number): number => 3 + ((days * 7) % 11);
export const pastFollowers = (days: number): number => 1200 + (PAST_DAYS - days) * 13 - (days % 4) * 5;

/** Noon, so that some minutes more or less never make another day of it. */
const NOON = Date.parse(`${new Date().toISOString().slice(0, 10)}T12:00:00Z`);
const ago = (days: number, minutes = 0): string =>
  new Date(NOON - days * DAY_MS + minutes * 60_000).toISOString();

/** Opens the store of a server that is stopped. */
function openStore(home: string): Database.Database {
  const file = readdirSync(home).find((name) => /\.(db|sqlite)$/.test(name));
  if (!file) throw new Error(`There is no database in ${home}.`);
  return new Database(join(home, file));
}

/** The figures of calls that have no entry in the log, as the product keeps those of calls that have one. */
export function figurePast(db: Database.Database): void {
  for (const [unit, length] of [
    ['hour', 13],
    ['day', 10],
  ] as const)
    db.exec(`insert into call_stats
      (unit, span, tool, toolkit, category, status, code, step, calls, total_ms, min_ms, max_ms, last_at)
      select '${unit}', substr(started_at, 1, ${length}), tool, toolkit, category, status, coalesce(code, ''),
        case when latency_ms <= 0.001 then -70 else cast(floor(ln(latency_ms) * 10) as integer) end as step,
        count(*), sum(latency_ms), min(latency_ms), max(latency_ms), max(started_at)
      from calls where call_id like 'past-%' group by 1, 2, 3, 4, 5, 6, 7, 8`);
}

/** Copies of a row that real work left, each with other values in some columns. */
function copies(db: Database.Database, table: string, where: string) {
  const columns = (db.prepare('select name from pragma_table_info(?)').all(table) as { name: string }[]).map(
    ({ name }) => name,
  );
  return (changed: Readonly<Record<string, string | number | null>>): void => {
    const kept = columns.filter((name) => !(name === 'id' && changed.id === undefined));
    const values = kept.map((name) => (name in changed ? `@${name}` : `"${name}"`));
    db.prepare(
      `insert into ${table} (${kept.map((name) => `"${name}"`).join(', ')})
       select ${values.join(', ')} from ${table} where ${where} limit 1`,
    ).run(changed);
  };
}

/**
 * Twenty days of calls, approvals, posts, followers and cost, because a test cannot wait for them. Needs one real
 * call of x_search_tweets, one failed call of x_get_user_by_username, one decided approval, one post and a found post.
 */
export function writePast(home: string): void {
  const db = openStore(home);
  const search = copies(db, 'calls', "tool = 'x_search_tweets' and status = 'ok'");
  const failure = copies(db, 'calls', "tool = 'x_get_user_by_username' and status <> 'ok'");
  const approval = copies(db, 'approvals', "state = 'done'");
  const post = copies(db, 'x_posts', "state = 'posted'");
  const usage = copies(db, 'x_usage', '1 = 1');
  const { realm } = db.prepare('select realm from x_posts limit 1').get() as { realm: string };
  const follow = db.prepare('insert into x_followers values (?, ?, ?, ?, ?)');
  for (let days = PAST_DAYS; days > 0; days -= 1) {
    for (let n = 0; n < pastCalls(days); n += 1)
      search({ call_id: `past-${days}-${n}`, started_at: ago(days, n), latency_ms: 20 + days + n * 3 });
    if (days % 3 === 0)
      failure({ call_id: `past-${days}-failed`, started_at: ago(days, 30), latency_ms: 140 });
    for (const [n, state] of ['done', 'rejected', 'expired'].entries())
      if (days % (n + 1) === 0)
        approval({ uuid: `past-${days}-${state}`, state, created_at: ago(days), decided_at: ago(days, 5) });
    follow.run(realm, ago(days), pastFollowers(days), 240, 900 + days);
    for (const [n, kind] of ['tweet', 'reply', 'reply', 'thread'].entries())
      if ((days + n) % (n + 1) === 0)
        post({
          id: `past-${days}-${n}`,
          kind,
          text: `${kind === 'reply' ? 'Answering a question about uptime' : 'What we learned this week'}, ${days} days ago`,
          text_key: `past-${days}-${n}`,
          tweet_id: `9${days}${n}`,
          created_at: ago(days, n),
          posted_at: ago(days, n),
          measured_at: ago(days, 300),
          impressions: 300 + days * 17 * (n + 1),
          likes: (days * 3 + n) % 29,
          replies: (days + n) % 6,
          retweets: days % 5,
          score: 20 + ((days * 13 + n * 7) % 70),
        });
    usage({
      day: pastDay(days),
      endpoint: 'search_recent',
      method: 'GET',
      calls: 10 + days,
      failures: days % 2,
      items: 100,
      cost_micros: 50_000 + days * 2_000,
    });
  }
  copyStrangers(db, realm);
  figurePast(db);
  db.close();
}

/** A post that a stranger wrote to do harm, one that did best, and an account that was already looked at. */
function copyStrangers(db: Database.Database, realm: string): void {
  copies(
    db,
    'x_discovered',
    '1 = 1',
  )({
    tweet_id: '77',
    author_username: 'mallory',
    text: `${HOSTILE} ${LONG_LINE}`,
    score: 99,
  });
  copies(
    db,
    'x_posts',
    "state = 'posted'",
  )({
    id: 'past-hostile',
    text: `Best of all ${HOSTILE}`,
    text_key: 'past-hostile',
    tweet_id: '78',
    created_at: ago(2),
    impressions: 12_345,
    likes: 99,
    score: 99,
  });
  const lena = db
    .prepare("select author_id as id from x_discovered where author_username = 'lena_learns'")
    .get() as { id: string };
  db.prepare('insert or replace into x_cursors values (?, ?, ?, ?)').run(
    realm,
    'target:lena_learns',
    JSON.stringify({ userId: lena.id }),
    ago(1),
  );
}
