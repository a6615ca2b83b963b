import { describe, expect, it } from 'vitest';
import { digest } from '../../../lib/canonical.ts';
import type { ApprovalEditsTable } from '../../store/tables.ts';
import {
  ARGS,
  approval,
  asked,
  DECIDED_AT,
  DIGEST,
  named,
  openApprovalRows,
  pending,
  type Row,
} from './approval-rows.fixture.ts';
import type { EntryDraft } from './history.fixture.ts';

const AFTER = { text: 'edited' };
const AFTER_DIGEST = digest('post', AFTER);
const rows = openApprovalRows();
const { insert, compare, found } = rows;

describe('an erased approval', () => {
  const erased = { ...pending, summary: '(erased)', args: '{}' };
  const other: EntryDraft = { ...asked, approval: { uuid: 'v', digest: DIGEST } };
  const erasure = (approvals: number | string): EntryDraft => ({ kind: 'erasure', extra: { approvals } });
  const tooMany = (rows: number, logged: number) =>
    `${rows} approvals say they were erased, but the log says ${logged} were.`;

  it('agrees without its arguments, as often as the log says', async () => {
    await insert(erased, { ...erased, id: 8, uuid: 'v' });
    expect(await compare(asked, other, erasure(1), erasure(1))).toEqual([]);
  });

  it('is named when the log has fewer erasures', async () => {
    await insert(erased, { ...erased, id: 8, uuid: 'v' });
    expect(await compare(asked, other, erasure(1))).toEqual([{ seq: undefined, message: tooMany(2, 1) }]);
  });

  it('is named when something else than an erasure counts it', async () => {
    await insert(erased);
    expect(await found(asked, { ...erasure(1), kind: 'config' })).toEqual([tooMany(1, 0)]);
    expect(await found(asked, erasure('1'))).toEqual([tooMany(1, 0)]);
  });
});

describe('the edits of an approval', () => {
  const EDITED_AT = '2026-01-01T00:00:30.000Z';
  const stored: ApprovalEditsTable = {
    approval_id: 7,
    edited_at: EDITED_AT,
    editor: 'person:ada',
    old_args: JSON.stringify(ARGS),
    new_args: JSON.stringify(AFTER),
    old_digest: DIGEST,
    new_digest: AFTER_DIGEST,
  };
  const edited: EntryDraft = {
    kind: 'edit',
    at: EDITED_AT,
    principal: 'person:ada',
    approval: { uuid: 'u', digest: AFTER_DIGEST },
    extra: { before: DIGEST },
  };
  const back: ApprovalEditsTable = {
    ...stored,
    edited_at: '2026-01-01T00:00:31.000Z',
    new_args: JSON.stringify(ARGS),
    old_digest: AFTER_DIGEST,
    new_digest: DIGEST,
  };
  const editedBack: EntryDraft = { ...edited, at: back.edited_at, approval, extra: { before: AFTER_DIGEST } };
  const row: Row = { ...pending, args: JSON.stringify(AFTER), digest: AFTER_DIGEST };
  const keep = (...edits: ApprovalEditsTable[]) =>
    rows.database.db.insertInto('approval_edits').values(edits).execute();

  it('agree in their order', async () => {
    await insert(pending, { ...row, id: 8, uuid: 'v' });
    await keep(back, stored, { ...stored, approval_id: 8 });
    const other = (one: EntryDraft, value: string): EntryDraft => ({
      ...one,
      approval: { uuid: 'v', digest: value },
    });
    expect(
      await compare(asked, other(asked, DIGEST), edited, other(edited, AFTER_DIGEST), editedBack),
    ).toEqual([]);
  });

  it('are named when there are fewer or more than in the log', async () => {
    await insert(row);
    expect(await found(asked, edited)).toEqual([named('has 0 stored edits, but the log has 1')]);
    await keep(stored);
    expect(await found(asked, edited)).toEqual([]);
    const changed = { uuid: 'u', digest: AFTER_DIGEST };
    expect(await found({ ...asked, approval: changed })).toEqual([
      named('has 1 stored edit, but the log has 0'),
    ]);
  });

  it.each<[string, Partial<ApprovalEditsTable>]>([
    ['person', { editor: 'person:eve' }],
    ['time', { edited_at: DECIDED_AT }],
    ['digest before', { old_digest: 'd2' }],
    ['digest after', { new_digest: 'd2' }],
  ])('are named when the %s differs', async (_what, more) => {
    await insert(row);
    const one = { ...stored, ...more };
    await keep(one);
    expect(await found(asked, edited)).toEqual([
      named(`has an edit by ${one.editor} that is not the one in the log`),
    ]);
  });

  it('are named when the log does not say what was edited', async () => {
    await insert(row);
    await keep(stored);
    expect(await found(asked, { ...edited, extra: undefined })).toEqual([
      named('has an edit by person:ada that is not the one in the log'),
    ]);
  });

  it('are named when their arguments were changed, and not when they were erased', async () => {
    await insert(row);
    await keep({ ...stored, new_args: '{}' });
    expect(await found(asked, edited)).toEqual([
      named('has an edit by person:ada with arguments that do not match its digest'),
    ]);
    await rows.database.db.updateTable('approvals').set({ summary: '(erased)' }).execute();
    expect(await found(asked, edited, { kind: 'erasure', extra: { approvals: 1 } })).toEqual([]);
  });
});
