import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { argsOf as argsIn } from '../../../../test/support/calls/x.ts';
import { type ErrorCode as CoreErrorCode, findErrorSpec } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { OVERRIDES_KEY } from '../../../kernel/store/pause.ts';
import type { XErrorCode } from '../errors.ts';
import { toolkit } from '../toolkit.ts';
import { emptyWorld, liveWorld } from './support/call-world.ts';
import { startModel, type TestModel } from './support/model.ts';
import { type Answer, openXPlace, type XPlace } from './support/place.ts';
import { startXWire, type XWire } from './support/wire.ts';

type ErrorCode = CoreErrorCode | XErrorCode;

/** Any tool may answer these: they come from the kernel, before or around the tool. */
const OF_THE_KERNEL: readonly string[] = [
  'invalid_input',
  'db_error',
  'policy_error',
  'policy_denied_user_rule',
  'serialization_error',
];

/** Declared because the documented contract does, though it cannot happen here. */
const NEVER: Readonly<Record<string, string>> = {
  'x_delete_tweet tweet_too_long': 'Deleting takes no text.',
};

const offered = toolkit.tools.filter(({ profiles }) => profiles.length > 0);
const effectOf = new Map(offered.map(({ name, effect }) => [name, effect]));
const declaring = (code: ErrorCode): string[] =>
  offered.filter(({ errors }) => errors.includes(code)).map(({ name }) => name);
const isDecision = (name: string): boolean => effectOf.get(name) === 'decide';
/** Reads that reach X are retried automatically, and can be sent again by the caller. */
const isRead = (name: string): boolean => effectOf.get(name) === 'read';

describe('every error code a tool of toolkit x declares, through a real client of the built package', () => {
  let wire: XWire;
  let model: TestModel;
  let place: XPlace;
  let argsOf: (name: string) => Promise<JsonObject>;
  const others: XPlace[] = [];
  const seen = new Map<string, Set<string>>();

  beforeAll(async () => {
    [wire, model] = await Promise.all([
      startXWire(),
      startModel(() => 'A plain answer with words of its own.'),
    ]);
    place = await openXPlace({
      config: [wire.settings, BUSINESS, `[llm]\n${toml(model.settings)}`].join('\n'),
      tokens: wire.tokens,
    });
    const world = await liveWorld(place.app, place.dir, model, wire.sandbox);
    argsOf = (name) => argsIn(world, name);
    // The account's own id is asked for once and then known: later faults meet the calls themselves.
    for (const name of ['x_get_me', 'x_get_bookmarks'])
      expect(await place.call(name, {})).toMatchObject({ success: true });
  });
  afterAll(async () => {
    for (const one of [place, ...others]) await one?.close();
    await model?.close();
    await wire?.close();
  });

  const elsewhere = async (config: string, policy?: string) => {
    const other = await openXPlace({ config, policy });
    others.push(other);
    const world = emptyWorld(other.app, other.dir);
    return { other, argsOf: (name: string) => argsIn(world, name) };
  };

  interface Case {
    readonly at?: XPlace;
    readonly args?: (name: string) => JsonObject | Promise<JsonObject>;
    readonly retryable?: boolean;
    readonly mute?: boolean;
  }

  /** Calls each tool once and expects this code from it, in the documented envelope. */
  const provoke = async (code: ErrorCode, names: readonly string[], how: Case = {}): Promise<void> => {
    const at = how.at ?? place;
    const wrong: string[] = [];
    const one = async (name: string) => {
      const args = await (how.args ?? argsOf)(name);
      if (effectOf.get(name) === 'destroy' && code !== 'invalid_input') await at.permit(name, args);
      const answer = await (how.mute ? at.callMute(name, args) : at.call(name, args));
      const found = differences(name, code, answer, how.retryable);
      if (found.length > 0) wrong.push(`${name}: ${found.join('; ')}`);
      else seen.set(name, (seen.get(name) ?? new Set()).add(code));
    };
    await Promise.all(names.filter((name) => !isDecision(name)).map(one));
    // Two simultaneous decisions would decide on each other's items.
    for (const name of names.filter(isDecision)) await one(name);
    expect(wrong).toEqual([]);
  };

  const struckBy = async (kind: string, work: () => Promise<void>, more: JsonObject = {}): Promise<void> => {
    await wire.sandbox.control('fault', { kind, times: 100_000, ...more });
    await work().finally(() => wire.sandbox.control('clear_faults'));
  };
  const onX = (code: ErrorCode): string[] => declaring(code).filter((name) => name !== 'compose_tweet');

  it('arguments that violate the schema: invalid_input', async () => {
    await provoke(
      'invalid_input',
      offered.map(({ name }) => name),
      { args: () => ({ surely_unknown: 1 }) },
    );
  });

  it.each([
    ['unauthorized', 'x_auth_expired'],
    ['forbidden', 'x_forbidden'],
    ['duplicate', 'x_forbidden'],
    ['suspended', 'x_account_restricted'],
    ['not_found', 'not_found'],
  ] as const)('X answers with %s: %s', async (kind, code) => {
    // An item that is not in the queue is not a matter of X.
    const names = onX(code).filter((name) => name !== 'reject_item');
    await struckBy(kind, () => provoke(code, names));
  });

  it('X refuses changes, and fails on reads and uploads: x_api_error', async () => {
    const repeatable = (name: string) => isRead(name) || name === 'x_upload_media';
    const names = onX('x_api_error');
    await struckBy('bad_request', () =>
      provoke(
        'x_api_error',
        names.filter((name) => !repeatable(name)),
        { retryable: false },
      ),
    );
    await struckBy('unavailable', () => provoke('x_api_error', names.filter(repeatable)));
  });

  it('no answer at all: x_network_error', async () => {
    await wire.cut();
    await provoke('x_network_error', onX('x_network_error'));
    await wire.reconnect();
  });

  it('the language model fails: llm_error', async () => {
    model.fail(400);
    const topic = (name: string) => (name === 'compose_tweet' ? { topic: 'monitoring' } : argsOf(name));
    await provoke('llm_error', declaring('llm_error'), { args: topic });
    model.fail(undefined);
  });

  it('texts that no post may have: tweet_too_long, validation_error', async () => {
    const long = declaring('tweet_too_long').filter((name) => !(`${name} tweet_too_long` in NEVER));
    await provoke('tweet_too_long', long, { args: (name) => withText(name, argsOf, 'x'.repeat(281)) });
    const texts = declaring('validation_error').filter((name) => long.includes(name));
    await provoke('validation_error', texts, {
      args: (name) => withText(name, argsOf, 'Do check out this boat'),
    });
  });

  it('files X would not take: unsupported_media_type, file_read_error, media_upload_error', async () => {
    const upload = (file: string) => ({ args: () => ({ file_path: join(place.dir, 'media', file) }) });
    mkdirSync(join(place.dir, 'media'), { recursive: true });
    writeFileSync(join(place.dir, 'media', 'notes.txt'), 'not a picture');
    await provoke('unsupported_media_type', ['x_upload_media'], upload('notes.txt'));
    await provoke('file_read_error', ['x_upload_media'], upload('nowhere.png'));
    await struckBy('bad_request', () => provoke('media_upload_error', ['x_upload_media']));
  });

  it('a thread that stops half-way: thread_partial_failure', async () => {
    await struckBy(
      'forbidden',
      () =>
        provoke('thread_partial_failure', ['x_post_thread'], {
          args: () => ({ tweets: ['Half of it', 'the rest'] }),
        }),
      {
        endpoint: 'create_tweet',
        skip: 1,
      },
    );
  });

  it('what cannot be worked out: context_error, recommendation_error, topic_error', async () => {
    await provoke('context_error', ['get_author_context'], { args: () => ({ author_id: '@nobody_at_all' }) });
    await provoke('recommendation_error', ['recommend_engagement_action'], {
      args: () => ({ tweet_id: '1' }),
    });
    await sql`update x_posts set score = 9e999`.execute(place.app.database.db);
    await provoke('topic_error', ['topic_performance_snapshot']);
    await sql`update x_posts set score = null`.execute(place.app.database.db);
    await sql`alter table x_posts rename to gone_posts`.execute(place.app.database.db);
    await provoke('topic_error', ['topic_performance_snapshot']).finally(() =>
      sql`alter table gone_posts rename to x_posts`.execute(place.app.database.db),
    );
  });

  it('decisions on what is not there, or was decided: not_found, validation_error', async () => {
    await provoke('not_found', ['approve_item', 'reject_item'], { args: () => ({ id: 999_999 }) });
    const { id } = await argsOf('approve_item');
    await place.app.kernel.approvals.reject(Number(id), place.app.person);
    await provoke('validation_error', ['approve_item', 'reject_item'], { args: () => ({ id: id ?? 0 }) });
    const { app } = place;
    for (const waiting of await app.kernel.approvals.list({ states: ['pending'] }))
      await app.kernel.approvals.reject(waiting.id, app.person);
    const requester = { kind: 'agent', id: 'other' } as const;
    const args = { text: 'Said twice, once before it was approved' };
    await app.kernel.approvals.propose({ tool: 'x_post_tweet', args, requester, reason: 'asked' });
    expect(await place.call('x_post_tweet', args)).toMatchObject({ success: true });
    await provoke('validation_error', ['approve_all'], { args: () => ({}) });
  });

  it('a client whose person cannot be asked decides nothing: policy_denied_hard_rule', async () => {
    await provoke('policy_denied_hard_rule', ['approve_item', 'approve_all', 'reject_item'], { mute: true });
  });

  it('the outcome cannot be written down: x_api_error, never to be repeated', async () => {
    const { db } = place.app.database;
    await sql`create trigger lost before update on calls begin select raise(abort, 'lost'); end`.execute(db);
    await provoke('x_api_error', ['compose_tweet'], { retryable: false });
    await sql`drop trigger lost`.execute(db);
    await place.app.kernel.recover();
  });

  it('the tables are gone: db_error', async () => {
    const { db } = place.app.database;
    // The failure of the one is topic_error, and the other needs only what stays readable.
    const late = ['topic_performance_snapshot', 'get_policy_status'];
    const names = declaring('db_error').filter((name) => !late.includes(name));
    const ready = new Map<string, JsonObject>();
    for (const name of names) ready.set(name, await argsOf(name));
    // Rules, the entries that set them and counters stay readable: without them every answer would be policy_error.
    const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'
      and name not like 'sqlite_%' and name not like 'call_words%' and name not in ('settings', 'audit_log',
      'idempotency', 'counters')`.execute(db);
    const move = (from: string, to: string) =>
      sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(db);
    for (const { name } of rows) await move(name, `gone_${name}`);
    try {
      await provoke('db_error', names, { args: (name) => ready.get(name) ?? {} });
      // Once the audit log is known to be unwritable every call ends that way.
      await vi.waitFor(() => provoke('db_error', late, { args: () => ({}) }), { timeout: 20_000 });
    } finally {
      for (const { name } of rows) await move(`gone_${name}`, name);
    }
  });

  it('X asks to wait: x_rate_limited, until when', async () => {
    await struckBy('rate_limited', () => provoke('x_rate_limited', onX('x_rate_limited')), { reset_in: 900 });
  });

  it('a person paused all changes: policy_denied_hard_rule', async () => {
    await place.app.kernel.setPaused(true, place.app.person);
    const names = declaring('policy_denied_hard_rule').filter((name) => name !== 'reject_item');
    await provoke('policy_denied_hard_rule', names);
    await place.app.kernel.setPaused(false, place.app.person);
  });

  it('a rule of the user says no: policy_denied_user_rule', async () => {
    const names = declaring('policy_denied_user_rule');
    const tools = names.filter((name) => !isDecision(name));
    const rule = { id: 'not-now', action: 'deny' as const, tools, priority: 1, enabled: true };
    await place.app.policy.setOverrides({ rules: [rule] }, place.app.person);
    // A change compares the rules with those in the store: after it the server has read them.
    await provoke('policy_denied_user_rule', ['x_like_tweet']);
    await provoke('policy_denied_user_rule', names);
  });

  it('the rules cannot be read: policy_error', async () => {
    const { db } = place.app.database;
    await db.updateTable('settings').set({ value: '{' }).where('key', '=', OVERRIDES_KEY).execute();
    await expect
      .poll(async () => (await place.call('x_like_tweet', { tweet_id: '1' })).error?.code)
      .toBe('policy_error');
    const names = declaring('policy_error');
    await provoke('policy_error', names);
    await place.app.policy.setOverrides({ rules: [] }, place.app.person);
    await expect.poll(async () => (await place.call('get_mode', {})).success).toBe(true);
  });

  it('no one is signed in and no model is set: x_not_configured, llm_not_configured', async () => {
    const { other: at, argsOf: args } = await elsewhere('[x_api]\nprovider_backend = "x_api"');
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const scheduled = async (name: string): Promise<JsonObject> => {
      if (name === 'compose_tweet') return { content: 'Too early', scheduled_for: later };
      return name === 'find_reply_opportunities' ? { query: 'boats' } : args(name);
    };
    await provoke('x_not_configured', declaring('x_not_configured'), { at, args: scheduled });
    const topic = async (name: string) => {
      if (name === 'compose_tweet') return { topic: 'monitoring' };
      if (name === 'generate_reply') return { tweet_id: '1', tweet_text: 'An outage again' };
      return args(name);
    };
    const drafts = 'draft_replies_for_candidates';
    const plain = declaring('llm_not_configured').filter((name) => name !== drafts);
    await provoke('llm_not_configured', plain, { at, args: topic });
    // Nothing is configured here that could be searched for or written about.
    await provoke('validation_error', ['find_reply_opportunities', 'generate_tweet'], {
      at,
      args: () => ({}),
    });
  });

  it('X can be read but no model is set: llm_not_configured', async () => {
    const { other: at } = await elsewhere('');
    const args = () => ({ tweet_ids: ['1234567890'] });
    await provoke('llm_not_configured', ['draft_replies_for_candidates'], { at, args });
  });

  it('the backend only reads: scraper_mutation_blocked', async () => {
    const { other: at, argsOf: args } = await elsewhere('[x_api]\nprovider_backend = "scraper"');
    await provoke('scraper_mutation_blocked', declaring('scraper_mutation_blocked'), { at, args });
  });

  it('the tool is blocked: policy_denied_blocked', async () => {
    const names = declaring('policy_denied_blocked');
    const blocked = names.filter((name) => !isDecision(name));
    const policy = `[mcp_policy]\nblocked_tools = ${JSON.stringify(blocked)}\n`;
    const { other: at, argsOf: args } = await elsewhere('', policy);
    await provoke('policy_denied_blocked', names, { at, args });
  });

  it('the hour is used up: policy_denied_rate_limited', async () => {
    const policy = '[mcp_policy]\ntemplate = "none"\nmax_mutations_per_hour = 1\n';
    const { other: at, argsOf: args } = await elsewhere('', policy);
    expect(await at.call('x_bookmark_tweet', { tweet_id: '1234567890' })).toMatchObject({ success: true });
    await provoke('policy_denied_rate_limited', declaring('policy_denied_rate_limited'), { at, args });
  });

  it('are all of them, and no tool answered with one it does not declare', () => {
    const pairs = (codesOf: (name: string) => Iterable<string>) =>
      offered.flatMap(({ name }) => [...codesOf(name)].map((code) => `${name} ${code}`)).sort();
    const declared = pairs((name) => offered.find((tool) => tool.name === name)?.errors ?? []);
    const provoked = pairs((name) => seen.get(name) ?? []);
    expect(declared.filter((pair) => !provoked.includes(pair))).toEqual(Object.keys(NEVER));
    const common = (pair: string) => OF_THE_KERNEL.some((code) => pair.endsWith(` ${code}`));
    expect(provoked.filter((pair) => !declared.includes(pair) && !common(pair))).toEqual([]);
  });
});

/** Where an answer is not the documented v1.0 envelope of this failure. */
function differences(name: string, code: ErrorCode, answer: Answer, retryable?: boolean): string[] {
  const { success, data, error, meta, isError } = answer;
  if (!error) return [`succeeded with ${JSON.stringify(data)}`];
  if (error.code !== code) return [`is ${error.code} (${error.message}), not ${code}`];
  // What was approved and then failed is decided: approving again is no way to repeat it.
  const again = isDecision(name) && !OF_THE_KERNEL.includes(code) ? false : findErrorSpec(code)?.retryable;
  const limited = code === 'x_rate_limited' || code === 'policy_denied_rate_limited';
  const reset = error.rate_limit_reset;
  const checks: Readonly<Record<string, boolean>> = {
    success: success === false && data === null && isError,
    message: error.message.length > 10,
    retryable: error.retryable === (retryable ?? again),
    meta: meta.tool_version === '1.0' && typeof meta.elapsed_ms === 'number',
    rate_limit_reset: limited
      ? ISO.test(reset ?? '') && Date.parse(reset ?? '') > Date.now()
      : reset === undefined,
    policy_decision: error.policy_decision === (code.startsWith('policy_') ? 'denied' : undefined),
  };
  const off = Object.keys(checks).filter((check) => !checks[check]);
  return off.length > 0 ? [`${off.join(', ')} wrong in ${JSON.stringify(answer)}`] : [];
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** The usual call of a tool that posts, with another text. */
async function withText(
  name: string,
  argsOf: (name: string) => Promise<JsonObject>,
  text: string,
): Promise<JsonObject> {
  const args = await argsOf(name);
  if (name === 'compose_tweet') return { content: text };
  if (name === 'x_post') return { endpoint: '/2/tweets', body: JSON.stringify({ text }) };
  if (name === 'propose_and_queue_replies') return { drafts: [{ tweet_id: '1234567890', text }] };
  return 'tweets' in args ? { tweets: ['The first part', text] } : { ...args, text };
}

const BUSINESS =
  '[business]\nproduct_name = "Tidepool"\nproduct_keywords = ["uptime"]\nindustry_topics = ["monitoring"]\n[targets]\naccounts = ["benno_ships"]';

const toml = (values: object): string =>
  Object.entries(values)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join('\n');
