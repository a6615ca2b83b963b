import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { standingDigest } from '../../../lib/standing-digest.ts';
import { dated, type EntryDraft } from './history.fixture.ts';
import { StandingHistoryCheck, StandingRowCheck } from './standing.ts';

const UNTIL = '2026-01-02T00:00:00.000Z';
const row = {
  uuid: 's',
  agent: 'agent:local',
  tool: 'post',
  toolkit: 'x',
  definition: 'sha256:00',
  predicates: '[]',
  expires_at: UNTIL,
  max_uses: 2,
  created_at: '2026-01-01T00:00:00.000Z',
  created_by: 'person:ada',
};
const given: EntryDraft = {
  kind: 'config',
  principal: 'person:ada',
  tool: 'post',
  approval: { uuid: 's', digest: standingDigest(row) },
  extra: { standing_added: 's', agent: 'agent:local', until: UNTIL, uses: 2 },
};
const use: EntryDraft = { kind: 'intent', principal: 'agent:local', tool: 'post', extra: { standing: 's' } };
const revokedAt = (at: string, principal = 'person:ada'): EntryDraft => ({
  ...{ kind: 'config', at, principal, extra: { standing_revoked: 's' } },
});

describe('a call under a standing approval', () => {
  /** What is wrong with each entry. */
  const history = (...entries: EntryDraft[]) => {
    const check = new StandingHistoryCheck();
    return entries.map((entry, seq) => check.take(seq, dated(entry)));
  };
  const last = (...entries: EntryDraft[]) => history(...entries).at(-1);

  it('is accepted as often as the person approved, until the moment it expires', () => {
    const before = { ...use, at: '2026-01-01T23:59:59.999Z' };
    expect(history(given, use, before)).toEqual([undefined, undefined, undefined]);
  });

  it.each<[string, EntryDraft[], string]>([
    ['no one gave it', [use], 'runs under standing approval s, which no one had given'],
    [
      'an agent gave it',
      [{ ...given, principal: 'agent:local' }, use],
      'runs under standing approval s, which no person gave',
    ],
    [
      'the log does not say who gave it',
      [{ ...given, principal: undefined }, use],
      'runs under standing approval s, which no person gave',
    ],
    [
      'it is for another agent',
      [given, { ...use, principal: 'agent:other' }],
      'runs under standing approval s, which is for agent:local and post',
    ],
    [
      'it is for another tool',
      [given, { ...use, tool: 'delete' }],
      'runs under standing approval s, which is for agent:local and post',
    ],
    ['it was used up', [given, use, use, use], 'uses standing approval s 3 times, but it allows 2'],
    [
      'it expires in that moment',
      [given, { ...use, at: UNTIL }],
      'runs under standing approval s, which had expired',
    ],
    [
      'it had been revoked',
      [given, revokedAt('2026-01-01T00:00:00.000Z'), use],
      'runs under standing approval s, which had been revoked',
    ],
    [
      'only an intent claims that it was given',
      [{ ...given, kind: 'intent' }, use],
      'runs under standing approval s, which no one had given',
    ],
  ])('is named when %s', (_when, entries, message) => {
    expect(last(...entries)).toBe(message);
  });

  it('is not ended by an entry that is not a decision', () => {
    const claimed: EntryDraft = { ...revokedAt(UNTIL), kind: 'outcome' };
    expect(last(given, claimed, use)).toBeUndefined();
  });

  it('is not read from entries that name none', () => {
    const entries: EntryDraft[] = [
      { kind: 'config' },
      { kind: 'intent' },
      { kind: 'config', extra: { standing_added: 1, standing_revoked: 2 } },
      { kind: 'intent', extra: { standing: 3 } },
      { ...use, kind: 'outcome' },
      revokedAt(UNTIL),
    ];
    expect(history(...entries).filter((one) => one !== undefined)).toEqual([]);
  });
});

describe('the row of a standing approval', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    await store.database.db.deleteFrom('standing_approvals').execute();
  });

  const insert = (
    more: Partial<Record<'revoked_at' | 'revoked_by' | 'predicates' | 'uuid', string>> & {
      used?: number;
    } = {},
  ) =>
    store.database.db
      .insertInto('standing_approvals')
      .values({ id: 7, ...row, used: 0, revoked_at: null, revoked_by: null, ...more })
      .execute();
  const compare = (...entries: EntryDraft[]) => {
    const check = new StandingRowCheck();
    entries.forEach((entry, index) => {
      check.take(10 + index, dated(entry));
    });
    return check.compare(store.database);
  };

  it('agrees with the log that says the same', async () => {
    await insert({ used: 2, revoked_at: '2026-01-01T12:00:00.000Z', revoked_by: 'person:ada' });
    const earlier = revokedAt('2026-01-01T12:00:00.000Z');
    const later = revokedAt('2026-01-01T13:00:00.000Z', 'person:eve');
    expect(await compare(given, use, use, { ...use, kind: 'outcome' }, earlier, later)).toEqual([]);
  });

  it('is named when the log has no entry about it', async () => {
    await insert();
    expect(await compare()).toEqual([
      { seq: undefined, message: 'Standing approval 7 (s) has a row, but no entry in the log.' },
    ]);
  });

  it('is named when it is missing', async () => {
    expect(await compare({ kind: 'config' }, given)).toEqual([
      { seq: 11, message: 'Standing approval s is in the log, but its row is missing.' },
    ]);
  });

  it.each([
    ['what was approved differs', { predicates: '[{}]' }, 'is not what the log says was approved'],
    ['what was approved cannot be read', { predicates: '[' }, 'is not what the log says was approved'],
    ['the uses differ', { used: 1 }, 'says it was used 1 times, but the log says 0'],
    [
      'only the row was revoked',
      { revoked_at: UNTIL },
      `says it was revoked at "${UNTIL}", but the log says "null"`,
    ],
  ])('is named when %s', async (_when, more, message) => {
    await insert(more);
    expect(await compare(given)).toEqual([{ seq: 10, message: `Standing approval 7 (s) ${message}.` }]);
  });

  it('is named when another person is said to have revoked it', async () => {
    await insert({ revoked_at: UNTIL, revoked_by: 'person:mallory' });
    expect(await compare(given, revokedAt(UNTIL))).toEqual([
      {
        seq: 10,
        message:
          'Standing approval 7 (s) says it was revoked by "person:mallory", but the log says "person:ada".',
      },
    ]);
  });

  it('is named when the log does not say what was approved', async () => {
    await insert();
    expect(await compare({ ...given, approval: undefined })).toEqual([
      { seq: 10, message: 'Standing approval 7 (s) is not what the log says was approved.' },
    ]);
  });

  it.each(ENGINES)('is looked for in its table on %s', async (engine) => {
    const empty = await openTestStore(engine);
    expect(await new StandingRowCheck().compare(empty.database)).toEqual([]);
    await empty.close();
  });

  it('is not asked for in a database from before there were any', async () => {
    const { db } = store.database;
    await sql`alter table standing_approvals rename to kept`.execute(db);
    try {
      expect(await compare()).toEqual([]);
    } finally {
      await sql`alter table kept rename to standing_approvals`.execute(db);
    }
  });
});
