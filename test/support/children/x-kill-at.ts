// Loaded into a daemon before its own code: ends it, as kill -9 would, at one step of a scheduled post.
import SqliteFile from 'libsql';

const point = process.env.KILL_AT ?? '';
const die = (name: string): void => {
  if (name === point) process.kill(process.pid, 'SIGKILL');
};

/** What the last statement of a running transaction was about. */
let open: 'intent' | 'outcome' | undefined;

function before(sql: string, values: string): void {
  if (sql.startsWith('update "x_content"') && values.includes('"claimed"')) die('before-claim');
}

function after(sql: string, values: string): void {
  if (sql.startsWith('update "x_content"') && values.includes('"claimed"')) die('after-claim');
  if (sql.startsWith('update "x_content"') && values.includes('"posted"')) die('after-settle');
  if (/^insert into "?calls"?/.test(sql) && values.includes('"x_post_tweet"')) open = 'intent';
  if (sql.startsWith('update calls set status')) open = 'outcome';
  if (open && sql !== 'commit') die(`inside-${open}`);
  if (open && sql === 'commit') {
    die(`after-${open}`);
    open = undefined;
  }
}

type Method = (...args: unknown[]) => unknown;
const prepare = SqliteFile.prototype.prepare as Method;
SqliteFile.prototype.prepare = function (this: unknown, sql: string) {
  const statement = Reflect.apply(prepare, this, [sql]) as Record<'run' | 'get' | 'all', Method>;
  for (const name of ['run', 'get', 'all'] as const) {
    const run = statement[name];
    statement[name] = (...args) => {
      const values = JSON.stringify(args, (_key, value) => (typeof value === 'bigint' ? `${value}` : value));
      before(sql, values);
      const result = Reflect.apply(run, statement, args);
      after(sql, values);
      return result;
    };
  }
  return statement;
} as never;

const send = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const posting = init?.method === 'POST' && String(input).endsWith('/2/tweets');
  if (posting) die('before-request');
  const answer = await send(input, init);
  if (posting) die('after-request');
  return answer;
};
