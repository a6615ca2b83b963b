import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Authenticator } from '../../../../test/support/authenticator.ts';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { itemOfDecision, type SignedDecision } from '../passkeys/entries.ts';
import {
  type AdminStatement,
  challengeOf,
  type DecisionStatement,
  type EnrolStatement,
  itemHash,
  type Statement,
} from '../passkeys/statement.ts';
import { dated, type EntryDraft } from './history.fixture.ts';
import { PasskeyCheck } from './passkeys.ts';
import { type Problem, Problems } from './report.ts';

export const AT = '2026-03-01T12:00:00.000Z';
export const EXPIRES = '2026-03-01T13:00:00.000Z';
const SALT = 's'.repeat(16);
const LOG = 'a'.repeat(64);
/** Of the log's first entry, which every statement here names as its head. */
export const ROOT = 'b'.repeat(64);

let statements = 0;
const common = () => {
  statements += 1;
  const nonce = String(statements).padStart(22, '0');
  return { log: LOG, head: { size: 1, root: ROOT }, issued: AT, until: EXPIRES, nonce };
};
const challenge = (statement: Statement) => challengeOf(statement).toString('base64url');

export function enrol(
  key: Authenticator,
  by?: Authenticator,
  person = 'person:ada',
  name = 'Key',
): EntryDraft {
  const { person: owner, ...shape } = key.key(person, name);
  const statement: EnrolStatement = { v: 'countersign-enrol/1', person: owner, key: shape, ...common() };
  const possession = key.sign(challenge(statement));
  const countersigned = by && { countersigned: by.signAs(challenge(statement)) };
  const extra: JsonObject = { action: 'enrol', statement, possession, ...countersigned };
  return { kind: 'passkey', at: AT, principal: person, extra };
}

export function setMode(by: Authenticator, mode: 'off' | 'destructive' | 'always'): EntryDraft {
  const order = { action: 'mode', mode } as const;
  const statement: AdminStatement = { v: 'countersign-passkeys/1', order, ...common() };
  const extra = { action: 'mode', statement, by: by.signAs(challenge(statement)) };
  return { kind: 'passkey', at: AT, principal: 'person:ada', extra };
}

export const reset: EntryDraft = {
  kind: 'passkey',
  at: AT,
  principal: 'person:ada',
  extra: { action: 'reset' },
};

/** What a person signed, as they keep it and as the log has it. */
export function receiptOf(
  by: Authenticator,
  items: readonly string[],
  more: Partial<DecisionStatement> = {},
): { statement: DecisionStatement; by: ReturnType<Authenticator['signAs']> } {
  const statement: DecisionStatement = {
    v: 'countersign-decision/1',
    person: 'person:ada',
    decision: 'approved',
    scope: 'once',
    of: items.length,
    items: [...items],
    ...common(),
    ...more,
  };
  return { statement, by: by.signAs(challenge(statement)) };
}

const approval = { uuid: 'u', digest: 'd1', requester: 'agent:local', approver: 'person:ada' };
export const asked: EntryDraft = { kind: 'approval', at: AT, status: 'pending', tool: 'post', approval };
const approved: EntryDraft = { ...asked, status: 'approved', principal: 'person:ada' };
const use: EntryDraft = { kind: 'intent', at: AT, call: 'c', tool: 'post', decision: 'ask', approval };
export const change: EntryDraft = { ...use, effect: 'change' };
export const destroy: EntryDraft = { ...use, effect: 'destroy' };
export const read: EntryDraft = { ...use, kind: 'read', effect: 'read' };

const parts = (expires: string | null): SignedDecision['item'] => ({ version: 1, binding: null, expires });
/** The item that the decision below is about. */
export const itemFor = (expires: string | null = EXPIRES): string =>
  itemHash(itemOfDecision(dated(approved), parts(expires)), SALT);

/** An approval by the signatures in the entries of these hashes; without any, one that is not signed. */
export const decide = (leaves: readonly string[] = [], expires: string | null = EXPIRES): EntryDraft => {
  if (leaves.length === 0) return approved;
  const by = leaves.map((entry) => ({ entry, salt: SALT }));
  return { ...approved, extra: { signed: { item: parts(expires), by } } };
};

/** The hash under which `verify` below enters entry `seq`. */
export const leafOf = (seq: number): string => seq.toString(16).padStart(64, '0');

interface Verified {
  readonly check: PasskeyCheck;
  readonly problems: readonly Problem[];
  readonly messages: readonly string[];
}

interface PasskeyLog {
  readonly store: TestStore;
  open(options?: { given?: readonly string[]; receipts?: readonly JsonObject[] }): Promise<{
    check: PasskeyCheck;
    problems: Problems;
  }>;
  /** Entries 1, 2 and so on; `size` ends the log there. */
  verify(
    entries: readonly EntryDraft[],
    options?: { given?: readonly string[]; receipts?: readonly JsonObject[]; size?: number },
  ): Promise<Verified>;
}

/** For the tests of a file: a database whose log has its first entry alone. */
export function openPasskeyLog(): PasskeyLog {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    const { db } = store.database;
    await db.deleteFrom('audit_log').execute();
    const first = { seq: 0, hash: LOG, call_id: null, run_id: null, kind: 'config', at: AT, body: '{}' };
    await db.insertInto('audit_log').values(first).execute();
  });
  const open: PasskeyLog['open'] = async ({ given = [], receipts = [] } = {}) => {
    const problems = new Problems();
    const check = new PasskeyCheck(problems, given, receipts);
    await check.begin(store.database);
    return { check, problems };
  };
  return {
    get store() {
      return store;
    },
    open,
    async verify(entries, options = {}) {
      const { check, problems } = await open(options);
      check.root(1, ROOT);
      entries.forEach((entry, index) => {
        check.take(index + 1, leafOf(index + 1), dated(entry));
      });
      check.finish(options.size ?? entries.length + 1);
      return { check, problems: problems.list, messages: problems.list.map(({ message }) => message) };
    },
  };
}
