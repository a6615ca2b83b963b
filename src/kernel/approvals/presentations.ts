import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import type { ApprovalPresentation, Presentation, RiskNote } from '../../contract/presentation.ts';
import type { ChangePreview } from '../../contract/preview.ts';
import { type Principal, principalName } from '../../contract/principal.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { isObject } from '../../lib/is-object.ts';
import { previewDiff } from '../../lib/preview-diff.ts';
import { newSalt } from '../../lib/random.ts';
import { wordsDigest } from '../log/rows/approval-words.ts';
import { parseJson } from '../store/cells.ts';
import type { Tables } from '../store/tables.ts';
import { ASKING_MS, describeRule, presentCall, SHOWING_MS } from './present.ts';
import { UnreadableApproval } from './row.ts';

/** What is kept with an approval: the presentation as it was asked, and what the requester added to it. */
export interface StoredPresentation {
  readonly presentation: Presentation;
  /** Notes of the requester, in addition to those the tool finds. */
  readonly added: readonly RiskNote[];
  /** The requester's own words; null when the reason on the row is the rule's. */
  readonly said: string | null;
  /** Why policy asked. */
  readonly asked: string;
}

/** What the person is to see, made while the call is being queued. */
export async function presentAsked(
  bound: BoundTool,
  args: JsonObject,
  words: {
    readonly principal: Principal;
    readonly binding: JsonObject | undefined;
    readonly risks?: readonly string[] | undefined;
    readonly gist?: string | undefined;
    readonly said: string | null;
    readonly asked: string;
  },
): Promise<StoredPresentation> {
  const fresh = await presentCall(bound, args, {
    principal: words.principal,
    binding: words.binding,
    limitMs: ASKING_MS,
  });
  const added = (words.risks ?? []).map((text): RiskNote => ({ level: 'note', text }));
  const gist = fresh.gist ?? words.gist ?? null;
  return {
    presentation: { ...withNotes(fresh, added), gist },
    added,
    said: words.said,
    asked: words.asked,
  };
}

const withNotes = (presentation: Presentation, added: readonly RiskNote[]): Presentation => {
  const own = presentation.risks.filter(({ text }) => !added.some((note) => note.text === text));
  return { ...presentation, risks: [...own, ...added] };
};

/** A presentation as it is stored, and what the audit entry says of it. */
export interface SealedPresentation {
  readonly columns: ReturnType<typeof shownColumns>;
  readonly body: string;
  readonly evidence: JsonObject;
}

/** `reason` is the row's: lists show it next to the title. */
export function sealPresentation(stored: StoredPresentation, reason: string): SealedPresentation {
  const columns = shownColumns(stored);
  const body = JSON.stringify({ ...stored, salt: newSalt() });
  const digest = wordsDigest({ ...columns, reason, body });
  return { columns, body, evidence: { ...diffEvidence(stored), presentation_sha256: digest } };
}

/** Columns that lists read, so that they never open a stored presentation. */
export const shownColumns = ({ presentation }: StoredPresentation) => ({
  summary: presentation.title,
  gist: presentation.gist,
  environment: presentation.target.environment,
  risks: JSON.stringify(presentation.risks.map(({ text }) => text)),
});

/** Of the diff alone: anyone who has the branch can compute the same hash. */
export function diffEvidence({ presentation }: StoredPresentation): JsonObject | undefined {
  const diff = diffOf(presentation);
  return diff && { preview_sha256: createHash('sha256').update(previewDiff(diff)).digest('hex') };
}

const diffOf = (presentation: Presentation): ChangePreview | undefined =>
  presentation.body.find((block) => block.type === 'diff');

/** An edited call is shown as it is now. */
export async function storePresentation(
  trx: Kysely<Tables>,
  approvalId: number,
  { body }: Pick<SealedPresentation, 'body'>,
): Promise<void> {
  await trx
    .insertInto('approval_previews')
    .values({ approval_id: approvalId, body })
    .onConflict((conflict) => conflict.column('approval_id').doUpdateSet({ body }))
    .execute();
}

/** Throws where the stored presentation cannot be read: a person must know what was shown before. */
export async function findPresentation(
  db: Kysely<Tables>,
  approvalId: number,
): Promise<StoredPresentation | ChangePreview | undefined> {
  const row = await db
    .selectFrom('approval_previews')
    .select('body')
    .where('approval_id', '=', approvalId)
    .executeTakeFirst();
  if (!row) return undefined;
  const stored: unknown = parseJson(row.body);
  if (!isStored(stored)) throw new UnreadableApproval(approvalId, 'presentation');
  return stored;
}

const isStored = (value: unknown): value is StoredPresentation | ChangePreview =>
  isObject(value) &&
  ('presentation' in value
    ? isObject(value.presentation) && Array.isArray(value.added)
    : Array.isArray(value.files));

type Base = Pick<ApprovalPresentation, 'reason' | 'rule' | 'stale'> & Presentation;

/** How the call is shown now: resolved again while someone may still decide, else as it was asked. */
export async function presentStored(
  db: Kysely<Tables>,
  approval: Approval,
  bound: BoundTool | undefined,
  ruleLabel: string | undefined,
): Promise<Base> {
  const found = await findPresentation(db, approval.id);
  const stored = found && 'presentation' in found ? found : undefined;
  const earlier = stored?.presentation ?? olderPresentation(approval, found as ChangePreview | undefined);
  const { presentation, stale } = await presentNow(approval, bound, earlier);
  const said = stored ? stored.said : approval.reason;
  return {
    ...(stored ? withNotes(presentation, stored.added) : presentation),
    gist: presentation.gist ?? approval.gist ?? null,
    reason: said === null || said === '' ? null : { text: said, by: principalName(approval.requester) },
    rule: describeRule(approval.rule, stored?.asked ?? approval.reason, ruleLabel),
    stale,
  };
}

async function presentNow(
  approval: Approval,
  bound: BoundTool | undefined,
  earlier: Presentation,
): Promise<{ readonly presentation: Presentation; readonly stale: string | null }> {
  const asIs = { presentation: earlier, stale: null };
  if (approval.state !== 'pending') return asIs;
  if (!bound) return { ...asIs, stale: `Tool ${approval.tool} is no longer available.` };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof asIs>((resolve) => {
    timer = setTimeout(() => resolve(asIs), SHOWING_MS);
  });
  try {
    const options = {
      principal: approval.requester,
      asked: { at: approval.createdAt, context: approval.context },
      binding: approval.binding,
      earlier,
      limitMs: SHOWING_MS,
    };
    const fresh = presentCall(bound, approval.args, options).then((presentation) => ({
      presentation,
      stale: null,
    }));
    return await Promise.race([fresh, late]);
  } catch (error) {
    // What a remote service cannot say for the moment was said when the call was asked.
    if (!(error instanceof ToolError) || error.retryable) return asIs;
    return { ...asIs, stale: error.message };
  } finally {
    clearTimeout(timer);
  }
}

/** Rows from before presentations were stored, and those whose content was erased. */
function olderPresentation(approval: Approval, diff: ChangePreview | undefined): Presentation {
  const environment = approval.environment ?? 'live';
  return {
    title: approval.summary,
    done: approval.summary,
    act: 'run',
    gist: approval.gist ?? null,
    kind: 'call',
    target: { kind: 'toolkit', label: approval.toolkit, environment },
    effect: { text: approval.effect === 'destroy' ? 'Deletes data' : 'Changes data' },
    undo: { possible: null, text: 'Unknown' },
    risks: approval.risks.map((text) => ({ level: 'note', text })),
    body: diff ? [{ type: 'diff', base_commit: diff.base_commit, files: diff.files }] : [],
    generic: true,
    money: false,
  };
}
