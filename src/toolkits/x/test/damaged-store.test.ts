import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OVERRIDES_KEY } from '../../../kernel/store/pause.ts';
import { openXPlace, type XPlace } from './support/place.ts';

/** Tools that document that they always succeed, on the built server with a real client. */
describe('on a database that does not work', () => {
  let place: XPlace;
  beforeEach(async () => {
    place = await openXPlace({ config: '' });
    expect(await place.call('health_check', {})).toMatchObject({ success: true, data: { status: 'ok' } });
    expect(await place.call('get_capabilities', {})).toMatchObject({ success: true, data: { problems: [] } });
    expect(await place.call('x_like_tweet', { tweet_id: '1234567890' })).toMatchObject({ success: true });
  });
  afterEach(() => place.close());

  const like = () => place.call('x_unlike_tweet', { tweet_id: '1234567890' });
  const expectReports = async () => {
    // More than once: the second call knows that nothing can be recorded.
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await place.call('health_check', {})).toMatchObject({
        success: true,
        data: { status: 'degraded', server: { status: 'degraded', database: { status: 'error' } } },
      });
      expect(await place.call('get_capabilities', {})).toMatchObject({
        success: true,
        data: { problems: expect.arrayContaining([expect.objectContaining({ code: 'db_error' })]) },
      });
    }
  };

  it('health_check and get_capabilities report it when the tables are gone, and changes are policy_error', async () => {
    const { db } = place.app.database;
    const { rows } = await sql<{ name: string }>`select name from pragma_table_list where schema = 'main'
      and type in ('table', 'virtual') and name not like 'sqlite_%'`.execute(db);
    const move = (from: string, to: string) =>
      sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(db);
    for (const { name } of rows) await move(name, `gone_${name}`);
    // Paused agents are known for a second; after it they cannot be read.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await expectReports();
    await expect.poll(like, { interval: 500, timeout: 20_000 }).toMatchObject({
      success: false,
      error: { code: 'policy_error', retryable: true, policy_decision: 'denied' },
    });
    for (const { name } of rows) await move(`gone_${name}`, name);
    await expect.poll(async () => (await like()).success, { interval: 500, timeout: 20_000 }).toBe(true);
    expect(await place.call('health_check', {})).toMatchObject({ data: { status: 'ok' } });
  });

  it('a counter that cannot be read is policy_error', async () => {
    const { db } = place.app.database;
    await sql`alter table counters rename to gone_counters`.execute(db);
    expect(await like()).toMatchObject({
      success: false,
      error: { code: 'policy_error', retryable: true, policy_decision: 'denied' },
    });
    await sql`alter table gone_counters rename to counters`.execute(db);
    expect(await like()).toMatchObject({ success: true });
  });

  it('health_check answers when the rules are unreadable, and a rule that denies it applies when they are', async () => {
    const { db } = place.app.database;
    const rule = {
      id: 'no-health',
      action: 'deny' as const,
      tools: ['health_check'],
      priority: 1,
      enabled: true,
    };
    await place.app.policy.setOverrides({ rules: [rule] }, place.app.person);
    const codeNow = async () => (await place.call('health_check', {})).error?.code;
    await expect.poll(codeNow, { interval: 500, timeout: 20_000 }).toBe('policy_denied_user_rule');
    await db.updateTable('settings').set({ value: '{' }).where('key', '=', OVERRIDES_KEY).execute();
    await expect.poll(codeNow, { interval: 500, timeout: 20_000 }).toBeUndefined();
    expect(await place.call('get_mode', {})).toMatchObject({
      success: false,
      error: { code: 'policy_error' },
    });
  });

  it('health_check and get_capabilities report it when the file is overwritten', async () => {
    await sql`pragma wal_checkpoint(truncate)`.execute(place.app.database.db);
    const path = join(place.dir, 'countersign.db');
    const file = openSync(path, 'r+');
    const page = Buffer.alloc(4096, 0xee);
    for (let at = 4096; at < statSync(path).size; at += page.length)
      writeSync(file, page, 0, page.length, at);
    closeSync(file);
    // Pages in the memory of the server are still good; the others are not.
    await expect
      .poll(async () => (await place.call('health_check', {})).data?.status, {
        interval: 500,
        timeout: 20_000,
      })
      .toBe('degraded');
    await expectReports();
  });
});
