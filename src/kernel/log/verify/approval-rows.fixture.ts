import type { Insertable } from 'kysely';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { digest } from '../../../lib/canonical.ts';
import type { Database } from '../../store/database.ts';
import type { ApprovalsTable } from '../../store/tables.ts';
import { ApprovalRowCheck } from './approval-rows.ts';
import { dated, type EntryDraft } from './history.fixture.ts';
import type { RowFault } from './state-rows.ts';

export type Row = Insertable<ApprovalsTable>;

export const ASKED_AT = '2026-01-01T00:00:00.000Z';
export const DECIDED_AT = '2026-01-01T00:01:00.000Z';
export const ARGS = { text: 'hello' };
export const DIGEST = digest('post', ARGS);

export const approval = { uuid: 'u', digest: DIGEST };
export const asked: EntryDraft = {
  kind: 'approval',
  at: ASKED_AT,
  status: 'pending',
  tool: 'post',
  toolkit: 'x',
  principal: 'agent:local',
  rule: 'ask-posts',
  approval,
};

/** What `asked` makes. */
export const pending: Row = {
  id: 7,
  uuid: 'u',
  kind: 'call',
  state: 'pending',
  tool: 'post',
  toolkit: 'x',
  effect: 'change',
  args: JSON.stringify(ARGS),
  digest: DIGEST,
  binding: null,
  requester: 'agent:local',
  reason: '',
  rule: 'ask-posts',
  summary: 'Post “hello”',
  risks: '[]',
  context: '{}',
  created_at: ASKED_AT,
  version: 1,
};

export const named = (what: string): string => `Approval 7 (u) ${what}.`;
export const differs = (column: string, stored: unknown, logged: unknown): string =>
  named(`says ${column} is "${stored}", but the log says "${logged}"`);

interface ApprovalRows {
  readonly database: Database;
  insert(...rows: Row[]): Promise<unknown>;
  /** The faults of the rows, after entries 10, 11 and so on. */
  compare(...entries: EntryDraft[]): Promise<RowFault[]>;
  found(...entries: EntryDraft[]): Promise<string[]>;
}

/** For the tests of a file: a database whose approvals are gone before each of them. */
export function openApprovalRows(): ApprovalRows {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    await store.database.db.deleteFrom('approval_edits').execute();
    await store.database.db.deleteFrom('approvals').execute();
  });
  const compare = (...entries: EntryDraft[]) => {
    const check = new ApprovalRowCheck();
    entries.forEach((entry, index) => {
      check.take(10 + index, dated(entry));
    });
    return check.compare(store.database);
  };
  return {
    get database() {
      return store.database;
    },
    insert: (...rows) => store.database.db.insertInto('approvals').values(rows).execute(),
    compare,
    found: async (...entries) => (await compare(...entries)).map(({ message }) => message),
  };
}
