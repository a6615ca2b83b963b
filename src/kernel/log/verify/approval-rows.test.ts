import { describe, expect, it } from 'vitest';
import { ENGINES, openTestStore } from '../../../../test/support/engines.ts';
import { digest } from '../../../lib/canonical.ts';
import { wordsDigest } from '../rows/approval-words.ts';
import {
  ARGS,
  ASKED_AT,
  approval,
  asked,
  DECIDED_AT,
  DIGEST,
  differs,
  named,
  openApprovalRows,
  pending,
  type Row,
} from './approval-rows.fixture.ts';
import { ApprovalRowCheck } from './approval-rows.ts';
import type { EntryDraft } from './history.fixture.ts';

const moved = (status: string, more: Partial<EntryDraft> = {}): EntryDraft => ({
  ...asked,
  at: DECIDED_AT,
  status,
  principal: 'person:ada',
  ...more,
});
const granted = moved('approved');
const returned = moved('returned', { principal: 'system:kernel' });
const call: EntryDraft = { kind: 'intent', call: 'c', tool: 'post', approval };
const outcome = (status: string, more: Partial<EntryDraft> = {}): EntryDraft => ({
  kind: 'outcome',
  call: 'c',
  status,
  ...more,
});
const late = (status: string): EntryDraft => outcome(status, { kind: 'settled', extra: { late: true } });
const read: EntryDraft = { ...call, kind: 'read', status: 'ok' };

const decided: Partial<Row> = { decided_by: 'person:ada', decided_at: DECIDED_AT };
const approvedRow: Row = { ...pending, ...decided, state: 'approved' };
const begun: Row = { ...approvedRow, state: 'executing', call_id: 'c' };

const rows = openApprovalRows();
const { insert, compare, found } = rows;

describe('the row of an approval agrees with the log', () => {
  it.each<[string, Row, EntryDraft[]]>([
    ['it is pending', pending, [asked]],
    ['it was approved', approvedRow, [asked, granted]],
    ['it was rejected', { ...approvedRow, state: 'rejected' }, [asked, moved('rejected')]],
    ['it was withdrawn', { ...approvedRow, state: 'withdrawn' }, [asked, moved('withdrawn')]],
    ['it expired without a decision', { ...pending, state: 'expired' }, [asked, moved('expired')]],
    ['it was given back to the person before its call began', pending, [asked, granted, asked]],
    ['its call is running', begun, [asked, granted, call]],
    ['its call succeeded', { ...begun, state: 'done' }, [asked, granted, call, outcome('ok')]],
    ['its call failed', { ...begun, state: 'failed' }, [asked, granted, call, outcome('failed')]],
    [
      'the outcome of its call is unknown',
      { ...begun, state: 'indeterminate' },
      [asked, granted, call, outcome('indeterminate')],
    ],
    ['its call failed and it came back', pending, [asked, granted, call, outcome('failed'), returned]],
    [
      'the parts of its call ran under it',
      { ...begun, state: 'done' },
      [asked, granted, call, { ...call, call: 'part', parent: 'c' }, outcome('ok')],
    ],
    [
      'another call ended',
      begun,
      [asked, granted, call, outcome('failed', { call: 'other' }), { kind: 'outcome', status: 'failed' }],
    ],
    ['its read was done', { ...begun, effect: 'read', state: 'done' }, [asked, granted, read]],
    ['its read is running', { ...begun, effect: 'read' }, [asked, granted]],
    ['its read was lost', { ...begun, effect: 'read', state: 'failed' }, [asked, granted]],
    [
      'its read failed',
      { ...approvedRow, effect: 'read', state: 'failed', call_id: 'c' },
      [asked, granted, { ...read, status: 'failed' }],
    ],
    [
      'a part read something under it',
      begun,
      [asked, granted, call, { ...read, call: 'part', parent: 'c', tool: 'look' }],
    ],
    [
      'its read is a part of an allowed call',
      { ...begun, effect: 'read', state: 'done' },
      [asked, granted, { ...read, parent: 'whole' }],
    ],
    [
      'it was decided seconds before the entry',
      { ...approvedRow, decided_at: '2026-01-01T00:00:50.000Z' },
      [asked, granted],
    ],
    [
      'it was decided seconds after the entry',
      { ...approvedRow, decided_at: '2026-01-01T00:01:10.000Z' },
      [asked, granted],
    ],
    [
      'its tool is known with both effects',
      pending,
      [
        asked,
        { kind: 'read', tool: 'post', effect: 'read' },
        { ...call, approval: undefined, effect: 'change' },
      ],
    ],
    ['the entry that asked is missing', { ...approvedRow, tool: 'post', rule: 'other' }, [granted]],
    [
      'its read was done and the entry that asked is missing',
      { ...begun, effect: 'read', state: 'done' },
      [granted, read],
    ],
    [
      'a part read something and the entry that asked is missing',
      { ...approvedRow, effect: 'read' },
      [granted, { ...read, parent: 'whole' }],
    ],
    [
      'its read failed and it is about to be given back',
      { ...approvedRow, effect: 'read' },
      [asked, granted, { ...read, status: 'failed' }],
    ],
    [
      'it was answered with what an identical call returned',
      { ...approvedRow, state: 'done' },
      [asked, granted, moved('done', { principal: 'system:kernel' })],
    ],
    ['the entry that asked names a run', { ...pending, run_id: 'r' }, [{ ...asked, run: 'r' }]],
    [
      'the decision does not say by whom',
      { ...approvedRow, decided_by: '' },
      [asked, moved('approved', { principal: undefined })],
    ],
  ])('when %s', async (_when, row, entries) => {
    await insert(row);
    expect(await compare(...entries)).toEqual([]);
  });

  it.each([
    ['its own', 'c'],
    ['that of a later call', 'd'],
    ['that of none', null],
  ])('with any call, %s, after a call that was taken for dead came back', async (_which, call_id) => {
    await insert({ ...approvedRow, state: 'done', call_id });
    expect(await compare(asked, granted, call, outcome('failed'), late('ok'))).toEqual([]);
  });

  it('with the state from before or after a call that came back as done', async () => {
    await insert({ ...begun, state: 'failed' });
    expect(await compare(asked, granted, call, outcome('failed'), late('ok'))).toEqual([]);
    expect(await found(asked, granted, call, outcome('ok'), late('failed'))).toEqual([
      differs('state', 'failed', 'done'),
    ]);
  });

  it.each(ENGINES)('when there are none, on %s', async (engine) => {
    const empty = await openTestStore(engine);
    expect(await new ApprovalRowCheck().compare(empty.database)).toEqual([]);
    await empty.close();
  });

  it('when entries about approvals name none', async () => {
    const kinds = ['approval', 'edit', 'intent', 'read', 'erasure', 'outcome', 'settled'] as const;
    expect(await compare(...kinds.map((kind): EntryDraft => ({ kind, status: 'ok' })))).toEqual([]);
  });

  it('when calls and edits name an approval that the log does not have', async () => {
    const edit: EntryDraft = { kind: 'edit', approval };
    expect(await compare(edit, call, outcome('ok'), read)).toEqual([]);
  });
});

describe('the row of a permit', () => {
  const args = JSON.stringify(ARGS);
  const digestOf = (binding: object) => digest('post', { args: ARGS, binding });
  const permit = (value: string) => ({ uuid: 'u', digest: value, permit: true });
  const row: Row = { ...approvedRow, kind: 'permit', args, digest: digestOf({}) };
  const flagged = [asked, granted].map((one): EntryDraft => ({ ...one, approval: permit(digestOf({})) }));

  it('agrees by its arguments and what it is bound to', async () => {
    await insert(row);
    expect(await compare(...flagged)).toEqual([]);
    const bound = digestOf({ lines: 3 });
    await rows.database.db.updateTable('approvals').set({ binding: '{"lines":3}', digest: bound }).execute();
    expect(await compare(...flagged.map((one) => ({ ...one, approval: permit(bound) })))).toEqual([]);
  });

  it('is known by its rule in older logs', async () => {
    await insert({ ...row, rule: 'permit' });
    const older = { rule: 'permit', approval: { uuid: 'u', digest: digestOf({}) } };
    expect(await compare({ ...asked, ...older }, { ...granted, ...older })).toEqual([]);
  });

  it('stays approved by the same person when its call failed and it came back', async () => {
    await insert(row);
    const use = { ...call, approval: permit(digestOf({})) };
    const back = { ...returned, approval: permit(digestOf({})) };
    expect(await compare(...flagged, use, outcome('failed'), back)).toEqual([]);
  });

  it('is named when what it is bound to was changed', async () => {
    await insert({ ...row, binding: '{"lines":4}' });
    expect(await found(...flagged)).toEqual([named('has arguments that do not match its digest')]);
  });

  it('is named when the log has it as a call', async () => {
    await insert({ ...approvedRow, kind: 'permit', binding: '{}' });
    expect(await found(asked, granted)).toEqual([
      named('has arguments that do not match its digest'),
      differs('kind', 'permit', 'call'),
      differs('binding', '{}', null),
    ]);
  });
});

describe('the row of an approval is named', () => {
  it.each<[string, Partial<Row>, string]>([
    ['tool', { tool: 'look', args: '{' }, differs('tool', 'look', 'post')],
    ['toolkit', { toolkit: 'y' }, differs('toolkit', 'y', 'x')],
    ['requester', { requester: 'agent:other' }, differs('requester', 'agent:other', 'agent:local')],
    ['rule', { rule: 'other' }, differs('rule', 'other', 'ask-posts')],
    ['run', { run_id: 'r' }, differs('run_id', 'r', null)],
    ['time of the request', { created_at: DECIDED_AT }, differs('created_at', DECIDED_AT, ASKED_AT)],
    ['state', { state: 'approved' }, differs('state', 'approved', 'pending')],
    ['digest', { digest: 'd2' }, differs('digest', 'd2', DIGEST)],
    ['arguments', { args: '{"text":"other"}' }, named('has arguments that do not match its digest')],
    ['unreadable arguments', { args: '{' }, named('has arguments that do not match its digest')],
    ['kind', { kind: 'permit' }, differs('kind', 'permit', 'call')],
    ['binding', { binding: '{}' }, differs('binding', '{}', null)],
    ['person', { decided_by: 'person:eve' }, differs('decided_by', 'person:eve', null)],
    ['time of the decision', { decided_at: DECIDED_AT }, differs('decided_at', DECIDED_AT, null)],
    ['call', { call_id: 'c' }, differs('call_id', 'c', null)],
  ])('when its %s differs', async (_what, more, message) => {
    await insert({ ...pending, ...more });
    expect(await found(asked)).toContain(message);
  });

  it('with the entry that asked for it', async () => {
    await insert({ ...pending, toolkit: 'y' });
    expect(await compare({ kind: 'config' }, asked)).toEqual([
      { seq: 11, message: differs('toolkit', 'y', 'x') },
    ]);
  });

  it.each<[string, Partial<Row>, string]>([
    ['person', { decided_by: null }, differs('decided_by', null, 'person:ada')],
    ['time', { decided_at: null }, differs('decided_at', null, DECIDED_AT)],
    [
      'time by more than ten seconds',
      { decided_at: '2026-01-01T00:01:10.001Z' },
      differs('decided_at', '2026-01-01T00:01:10.001Z', DECIDED_AT),
    ],
  ])('when its decision differs in the %s', async (_what, more, message) => {
    await insert({ ...approvedRow, ...more });
    expect(await found(asked, granted)).toEqual([message]);
  });

  it('when its effect is one that its tool never had', async () => {
    await insert({ ...approvedRow, effect: 'read' });
    const known: EntryDraft[] = [asked, granted, { kind: 'config', tool: 'post', effect: 'change' }];
    expect(await found(...known)).toEqual([differs('effect', 'read', 'change')]);
    expect(await found(...known, { kind: 'config', tool: 'post', effect: 'destroy' })).toEqual([
      differs('effect', 'read', 'change or destroy'),
    ]);
  });

  it('when it says that a change is running which the log only has as approved', async () => {
    await insert(begun);
    expect(await found(asked, granted)).toEqual([
      differs('state', 'executing', 'approved'),
      differs('call_id', 'c', null),
    ]);
  });

  it('when it says that its call failed, and the log only that one was refused', async () => {
    await insert({ ...approvedRow, state: 'failed' });
    expect(await found(asked, granted, { ...call, kind: 'refusal', status: 'refused' })).toEqual([
      differs('state', 'failed', 'approved'),
    ]);
  });

  it('when it says that a read is running which no one approved', async () => {
    await insert({ ...pending, effect: 'read', state: 'executing' });
    expect(await found(asked)).toEqual([differs('state', 'executing', 'pending')]);
  });

  it('when an approved read that has not begun names a call', async () => {
    await insert({ ...approvedRow, effect: 'read', call_id: 'c' });
    expect(await found(asked, granted)).toEqual([differs('call_id', 'c', null)]);
  });

  it('when it names another call than the one that used it', async () => {
    await insert({ ...begun, call_id: 'd' });
    expect(await found(asked, granted, call)).toEqual([differs('call_id', 'd', 'c')]);
    await rows.database.db.updateTable('approvals').set({ state: 'done', effect: 'read' }).execute();
    expect(await found(asked, granted, read)).toEqual([differs('call_id', 'd', 'c')]);
  });

  it('when it keeps the decision or the call of an approval that came back', async () => {
    await insert({ ...begun, state: 'pending' });
    const wrong = [
      differs('decided_by', 'person:ada', null),
      differs('decided_at', DECIDED_AT, null),
      differs('call_id', 'c', null),
    ];
    expect(await found(asked, granted, call, outcome('failed'), returned)).toEqual(wrong);
    expect(await found(asked, granted, asked)).toEqual(wrong);
  });

  it('when the log has no entry about it, whatever its number', async () => {
    await insert({ ...pending, id: -5 });
    expect(await compare()).toEqual([
      { seq: undefined, message: 'Approval -5 (u) has a row, but no entry in the log.' },
    ]);
  });

  it('when it is missing', async () => {
    expect(await compare({ kind: 'config' }, asked)).toEqual([
      { seq: 11, message: 'Approval u is in the log, but its row is missing.' },
    ]);
  });

  it('in a table of more rows than are read together', async () => {
    const many = Array.from({ length: 501 }, (_, index) => ({
      ...pending,
      id: index + 1,
      uuid: `u${index}`,
    }));
    for (let start = 0; start < many.length; start += 100) await insert(...many.slice(start, start + 100));
    const entries = many.map(({ uuid }): EntryDraft => ({ ...asked, approval: { uuid, digest: DIGEST } }));
    expect(await compare(...entries)).toEqual([]);
    const known = entries.filter((_, index) => index !== 99 && index !== 500);
    expect(await found(...known)).toEqual([
      'Approval 100 (u99) has a row, but no entry in the log.',
      'Approval 501 (u500) has a row, but no entry in the log.',
    ]);
  });
});

describe('the title and content of an approval', () => {
  const WRONG = [named('has a title or content that differs from what the log says was shown')];
  const row = { ...pending, gist: 'hello', environment: 'live' };
  const body = '{"salt":"s"}';
  const words = wordsDigest({ ...row, body });
  const said: EntryDraft = { ...asked, extra: { presentation_sha256: words } };
  const store = async (stored: Row, preview: string | undefined = body) => {
    const { db } = rows.database;
    await db.deleteFrom('approval_previews').execute();
    await insert(stored);
    if (preview) await db.insertInto('approval_previews').values({ approval_id: 7, body: preview }).execute();
  };

  it('agree with the entry that asked, also after the approval is pending again', async () => {
    await store(row);
    expect(await found(said)).toEqual([]);
    expect(await found(said, moved('approved'), { ...asked, rule: undefined })).toEqual([]);
  });

  it.each(['summary', 'gist', 'environment', 'risks', 'reason'])('are compared: %s', async (column) => {
    await store({ ...row, [column]: 'forged' });
    expect(await found(said)).toEqual(WRONG);
  });

  it.each(['{"salt":"t"}', ''])('are compared with the stored presentation %j', async (preview) => {
    await store(row, preview);
    expect(await found(said)).toEqual(WRONG);
  });

  it('are not compared where the log has no digest of them, or they were erased', async () => {
    await store({ ...row, summary: 'Other' });
    expect(await found(asked)).toEqual([]);
    const edit: EntryDraft = { ...asked, kind: 'edit', rule: undefined, extra: { before: DIGEST } };
    expect(await found(said, edit)).not.toContain(WRONG[0]);
    const now: EntryDraft = { ...edit, extra: { before: DIGEST, presentation_sha256: words } };
    expect(await found(asked, now)).toContain(WRONG[0]);
    await rows.database.db.updateTable('approvals').set({ summary: '(erased)' }).execute();
    expect(await found(said, { kind: 'erasure', extra: { approvals: 1 } })).toEqual([]);
  });
});
