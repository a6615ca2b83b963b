import { describe, expect, it } from 'vitest';
import type { CallsTable } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';
import { type CallEntry, rowDifferences, startOf, statedRow } from './call-row.ts';

const START = '2026-01-02T03:04:05.006Z';
/** A UUID of version 7 holds the time it was made. */
const idAt = (time: string): string => {
  const hex = Date.parse(time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8def-0123456789ab`;
};
const CALL = idAt(START);

const entries = (...all: readonly Partial<Entry>[]): CallEntry[] =>
  all.map((entry, seq) => ({
    seq,
    hash: `hash-${seq}`,
    entry: { v: 1, kind: 'read', at: `at-${seq}`, call: CALL, ...entry },
  }));

const READ: Partial<Entry> = {
  kind: 'read',
  parent: 'p',
  run: 'r',
  tool: 't',
  toolkit: 'k',
  effect: 'read',
  principal: 'agent:local',
  client: 'client/1',
  transport: 'stdio',
  digest: 'd',
  status: 'ok',
  code: 'late',
  decision: 'allow',
  rule: 'default',
  approval: { uuid: 'u', digest: 'd', approver: 'person:ada' },
  replayOf: 'o',
};

describe('the row that entries state', () => {
  it('has what a single entry says', () => {
    expect(statedRow(entries(READ))).toEqual({
      started_at: START,
      parent_id: 'p',
      finished_at: 'at-0',
      tool: 't',
      toolkit: 'k',
      effect: 'read',
      principal: 'agent:local',
      client: 'client/1',
      transport: 'stdio',
      run_id: 'r',
      digest: 'd',
      status: 'ok',
      code: 'late',
      decision: 'allow',
      rule: 'default',
      evidence_hash: 'hash-0',
      approver: 'person:ada',
      replay_of: 'o',
    });
  });

  it('is empty where the entry says nothing, and unknown without entries', () => {
    expect(statedRow(entries({ kind: 'intent' }))).toEqual({
      started_at: 'at-0',
      parent_id: null,
      finished_at: null,
      tool: '',
      toolkit: '',
      effect: '',
      principal: '',
      client: null,
      transport: '',
      run_id: null,
      digest: '',
      status: 'running',
      code: null,
      decision: 'none',
      rule: null,
      evidence_hash: null,
      approver: null,
      replay_of: null,
    });
    expect(statedRow([])).toBeUndefined();
  });

  it('ends with the outcome of an intent, which also names the run it opened', () => {
    const intent = { kind: 'intent', tool: 't' } as const;
    const outcome = { kind: 'outcome', status: 'failed', code: 'timeout', run: 'opened' } as const;
    expect(statedRow(entries(intent, outcome))).toMatchObject({
      started_at: 'at-0',
      finished_at: 'at-1',
      status: 'failed',
      code: 'timeout',
      run_id: 'opened',
      evidence_hash: 'hash-1',
    });
    expect(statedRow(entries({ ...intent, run: 'begun' }))).toMatchObject({ run_id: 'begun' });
    // Only an intent is answered by an outcome.
    expect(statedRow(entries({ kind: 'read', status: 'ok' }, outcome))).toMatchObject({
      status: 'ok',
      evidence_hash: 'hash-0',
    });
  });

  it('is not finished while an interrupted call is not settled', () => {
    const interrupted = [
      { kind: 'intent' },
      { kind: 'outcome', status: 'indeterminate', code: 'interrupted', extra: { interrupted: true } },
    ] as const;
    expect(statedRow(entries(...interrupted))).toMatchObject({
      finished_at: null,
      status: 'indeterminate',
      evidence_hash: 'hash-1',
    });
    expect(statedRow(entries(...interrupted, { kind: 'settled', status: 'ok' }))).toMatchObject({
      finished_at: 'at-2',
      status: 'ok',
      code: 'interrupted',
      evidence_hash: 'hash-1',
    });
  });

  it('keeps its code when a person settles it, and takes the code of a process that comes back', () => {
    const begun = [
      { kind: 'intent' },
      { kind: 'outcome', status: 'indeterminate', code: 'timeout' },
    ] as const;
    const settled = { kind: 'settled', status: 'failed', code: 'unavailable' } as const;
    expect(statedRow(entries(...begun, settled))).toMatchObject({ status: 'failed', code: 'timeout' });
    const late = { ...settled, extra: { late: true } };
    expect(statedRow(entries(...begun, late))).toMatchObject({ status: 'failed', code: 'unavailable' });
    expect(statedRow(entries(...begun, { ...settled, extra: { late: 'yes' } }))).toMatchObject({
      code: 'timeout',
    });
    expect(
      statedRow(entries(...begun, { kind: 'call', code: 'other', extra: { late: true } })),
    ).toMatchObject({
      code: 'timeout',
    });
    const twice = entries(...begun, late, { kind: 'settled', status: 'ok', extra: { late: true } });
    expect(statedRow(twice)).toMatchObject({ status: 'ok', code: null, finished_at: 'at-3' });
  });
});

describe('the start of a call', () => {
  const startOfCall = (call?: string) => startOf({ v: 1, kind: 'read', at: 'later', call });

  it.each([
    '1970-01-01T00:00:00.000Z',
    '2026-01-02T03:04:05.006Z',
    '2026-01-02T23:59:59.999Z',
    '2026-01-03T00:00:00.000Z',
    '2026-01-02T10:00:10.100Z',
  ])('is read from its id: %s', (time) => {
    expect(startOfCall(idAt(time))).toBe(time);
  });

  it('is the time of an intent, whatever its id', () => {
    expect(startOf({ v: 1, kind: 'intent', at: 'first', call: CALL })).toBe('first');
  });

  it.each([
    ['none', undefined],
    ['too short', CALL.slice(0, -1)],
    ['too long', `${CALL}0`],
    ['of another version', `${CALL.slice(0, 14)}4${CALL.slice(15)}`],
    ['without its first dash', `${CALL.slice(0, 8)}0${CALL.slice(9)}`],
    ['without its second dash', `${CALL.slice(0, 13)}0${CALL.slice(14)}`],
    ['not of digits', `xxxxxxxx-xxxx-7${CALL.slice(15)}`],
  ])('is unknown for an id that is %s', (_, call) => {
    expect(startOfCall(call)).toBeUndefined();
  });
});

describe('differences between a row and its entries', () => {
  /** What `READ` states. */
  const row: CallsTable = {
    call_id: CALL,
    parent_id: 'p',
    started_at: START,
    finished_at: 'at-0',
    tool: 't',
    toolkit: 'k',
    category: 'c',
    effect: 'read',
    principal: 'agent:local',
    client: 'client/1',
    transport: 'stdio',
    run_id: 'r',
    digest: 'd',
    status: 'ok',
    code: 'late',
    decision: 'allow',
    rule: 'default',
    latency_ms: 0,
    evidence_hash: 'hash-0',
    approval_id: 1,
    approver: 'person:ada',
    replay_of: 'o',
    holder_host: null,
    holder_pid: null,
    lease_until: null,
  };
  const NOT_STATED = [
    'call_id',
    'category',
    'latency_ms',
    'approval_id',
    'holder_host',
    'holder_pid',
    'lease_until',
  ];
  const differences = (
    change: Partial<CallsTable> = {},
    entry: Partial<Entry> = {},
    approvalUuid: string | null = 'u',
  ) => rowDifferences({ row: { ...row, ...change }, approvalUuid }, entries({ ...READ, ...entry }));

  it('are none where both agree, or where there is neither', () => {
    expect(differences()).toEqual([]);
    expect(rowDifferences({ row: undefined, approvalUuid: null }, [])).toEqual([]);
  });

  it('are that the row or the entries are missing', () => {
    expect(rowDifferences({ row, approvalUuid: 'u' }, [])).toEqual(['has a row, but no entry']);
    expect(rowDifferences({ row: undefined, approvalUuid: null }, entries(READ))).toEqual([
      'has entries, but its row is missing',
    ]);
  });

  it.each(Object.keys(row).filter((column) => !NOT_STATED.includes(column)))(
    'name the column %s',
    (column) => {
      expect(differences({ [column]: 'edited' })).toEqual([
        expect.stringMatching(`^says ${column} is "edited", but its entries say "`),
      ]);
    },
  );

  it('show an empty value as such, and a long one cut', () => {
    expect(differences({ client: null })).toEqual(['says client is empty, but its entries say "client/1"']);
    expect(differences({ tool: 'x'.repeat(100) })).toEqual([
      `says tool is "${'x'.repeat(80)}", but its entries say "t"`,
    ]);
  });

  it('do not include a start that the entries cannot state', () => {
    expect(differences({ started_at: 'any' }, { call: 'short' })).toEqual([]);
  });

  it.each([
    ['policy_denied_rate_limited', 'limit:posts'],
    ['paused', 'hard:paused'],
    ['agent_paused', 'hard:agent_paused'],
    ['quota_exceeded', 'hard:fair_share'],
    ['approval_invalid', 'hard:approval'],
    ['approval_invalid', 'hard:permit'],
    ['approval_required', 'hard:approval'],
    ['approval_state', 'hard:permit'],
    ['not_found', 'hard:approval'],
    ['policy_denied_hard_rule', 'hard:person_decides'],
    ['policy_error', 'hard:unreadable_policy'],
    ['signature_required', 'hard:approval'],
    ['signature_required', 'hard:person_decides'],
  ])('let a refusal with %s name the rule %s, and no other', (code, rule) => {
    expect(differences({ code, rule }, { code })).toEqual([]);
    expect(differences({ code, rule: `not-${rule}` }, { code })).toHaveLength(1);
    expect(differences({ code: 'timeout', rule }, { code: 'timeout' })).toHaveLength(1);
    expect(differences({ code: null, rule }, { code: undefined })).toHaveLength(1);
    // Only the rule may differ.
    expect(differences({ code, tool: rule }, { code })).toHaveLength(1);
  });

  it('name an approval that is not the one of the entries', () => {
    const says = (id: string, wanted: string) => [
      `says approval_id is ${id}, but its entries say "${wanted}"`,
    ];
    expect(differences({}, {}, 'other')).toEqual(says('"1"', 'u'));
    expect(differences({}, {}, null)).toEqual(says('"1"', 'u'));
    expect(differences({ approval_id: null }, {}, null)).toEqual(says('empty', 'u'));
    expect(differences({ approval_id: null }, {}, 'u')).toEqual(says('empty', 'u'));
    const none = { approval: undefined };
    expect(differences({ approver: null }, none, 'u')).toEqual(says('"1"', 'none'));
    expect(differences({ approver: null }, none, null)).toEqual(says('"1"', 'none'));
    expect(differences({ approver: null, approval_id: null }, none, null)).toEqual([]);
  });

  it('let the row of a routed call alone name its approval, which must exist', () => {
    const routed = { kind: 'routed', approval: undefined } as const;
    expect(differences({ approver: null }, routed, 'any')).toEqual([]);
    expect(differences({ approver: null }, routed, null)).toHaveLength(1);
    expect(differences({ approver: null, approval_id: null }, routed, 'any')).toHaveLength(1);
    expect(differences({ approver: null, approval_id: null }, routed, null)).toHaveLength(1);
  });

  it.each([{ holder_host: 'h' }, { holder_pid: 1 }, { lease_until: 'later' }])(
    'name a process that holds a call although it has ended: %o',
    (held) => {
      const host = 'holder_host' in held ? '"h"' : 'empty';
      expect(differences(held)).toEqual([`says holder_host is ${host}, but its entries say empty`]);
      const running = { status: 'running', finished_at: null, evidence_hash: null, code: null };
      const intent = { kind: 'intent', at: START } as const;
      expect(differences({ ...held, ...running }, intent)).toEqual([]);
    },
  );

  it('name a duration that is none', () => {
    for (const latency_ms of [-1, Number.NaN])
      expect(differences({ latency_ms })).toEqual([
        `says latency_ms is "${latency_ms}", but its entries say "a duration"`,
      ]);
    expect(differences({ latency_ms: 5 })).toEqual([]);
  });
});
