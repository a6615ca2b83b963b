import type { Kysely } from 'kysely';
import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { type Approval, type ApprovalState, type Decided, isReadable } from '../../../contract/ports.ts';
import { type Principal, principalName } from '../../../contract/principal.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { lookup } from '../../../lib/lookup.ts';
import { uuidv7 } from '../../../lib/random.ts';
import type { PrivacyView } from '../privacy/privacy-view.ts';
import type { ResearchServices } from '../services.ts';
import type { ResearchTables } from '../tables.ts';
import type { pendingShape } from '../views.ts';

type DecideContext = Pick<ToolContext<ResearchServices>, 'services' | 'decider'>;

/** Finds what waits under this id; `tools` limits it to the kind a tool is for. */
export async function findSuggestion(
  { services }: DecideContext,
  id: string,
  tools?: readonly string[],
): Promise<Approval> {
  const approval = await services.approvals.get(id);
  if (approval?.toolkit !== 'research') {
    throw new ToolError('not_found', `Suggestion ${id} not found.`, { detail: { suggestion_id: id } });
  }
  if (tools && !tools.includes(approval.tool)) {
    throw new ToolError(
      'validation_error',
      `Suggestion ${id} asks for ${approval.tool}; use approve_suggestion for it.`,
      {
        detail: { suggestion_id: id, asks_for: approval.tool },
      },
    );
  }
  return approval;
}

export function deciderOf({ decider }: DecideContext): Principal {
  if (!decider) throw new ToolError('policy_denied_hard_rule', 'Only the researcher decides on suggestions.');
  return decider;
}

/** Approves and says what really happened: the data of the change, or the fault that stopped it. */
export async function approve(context: DecideContext, approval: Approval): Promise<JsonObject> {
  const decided = await context.services.approvals.approve(approval.uuid, deciderOf(context));
  return resultOf(decided);
}

function resultOf({ approval, outcome }: Decided): JsonObject {
  if (outcome?.status === 'ok') return (outcome.data ?? {}) as JsonObject;
  const state = `Suggestion ${approval.uuid} is now ${approval.state}.`;
  if (outcome && 'fault' in outcome) {
    const { fault } = outcome;
    throw fault.reworded(`Approved, but it could not be applied: ${fault.message} ${state}`, {
      detail: { ...fault.detail, suggestion_id: approval.uuid, state: approval.state },
      cause: fault,
      // An unknown outcome stays unknown: this call must not claim that nothing happened.
      effect: outcome.status === 'indeterminate' ? 'unknown' : fault.effect,
    });
  }
  throw new ToolError(
    'approval_state',
    `Approved, but not applied (${outcome?.status ?? 'no outcome'}). ${state}`,
    {
      detail: { suggestion_id: approval.uuid, state: approval.state },
    },
  );
}

const PAGE = 500;

/** Every suggestion of a batch, oldest first; an unknown batch is a fault, an empty one is not. */
export async function batchItems(
  { approvals, batches }: ResearchServices,
  batchId: string,
): Promise<Approval[]> {
  if (!(await batches.get(batchId))) {
    throw new ToolError('not_found', `Suggestion batch ${batchId} not found.`, {
      detail: { batch_id: batchId },
    });
  }
  const items: Approval[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await approvals.page({ groupId: batchId, order: 'oldest', limit: PAGE, offset });
    items.push(...page.filter(isReadable));
    if (page.length < PAGE) return items;
  }
}

/** The same without suggestions on sources that this caller may not know of. */
export async function batchItemsFor(
  principal: Principal,
  services: ResearchServices,
  batchId: string,
): Promise<Approval[]> {
  const items = await batchItems(services, batchId);
  const batch = await services.batches.get(batchId);
  if (principal.kind === 'person' || !batch) return items;
  const { offLimits } = await services.privacy.rules(batch.projectId);
  return items.filter(({ args }) => !offLimits.has(argNumber(args, 'source_id')));
}

export function batchStatus(items: readonly Approval[]) {
  const count = (...states: ApprovalState[]) => items.filter(({ state }) => states.includes(state)).length;
  const pending = count('pending', 'approved', 'executing');
  const applied = count('done');
  const status =
    pending > 0 ? 'pending_review' : applied === items.length && applied > 0 ? 'applied' : 'reviewed';
  return {
    status,
    total_count: items.length,
    pending_count: pending,
    reviewed_count: items.length - pending,
    applied_count: applied,
    rejected_count: count('rejected', 'withdrawn', 'expired'),
    failed_count: count('failed', 'indeterminate'),
  };
}

export interface Batch {
  readonly id: string;
  readonly projectId: string;
  readonly tool: string;
}

/** Suggestions filed together. Kept apart from them so that a batch without any is known too. */
export class BatchStore {
  readonly #db: Kysely<ResearchTables>;
  readonly #now: () => Date;

  constructor(db: Kysely<ResearchTables>, now: () => Date) {
    this.#db = db;
    this.#now = now;
  }

  async open(projectId: string, tool: string): Promise<string> {
    const id = uuidv7();
    await this.#db
      .insertInto('research_batches')
      .values({ id, project_id: projectId, tool, at: this.#now().toISOString() })
      .execute();
    return id;
  }

  async get(id: string): Promise<Batch | undefined> {
    const row = await this.#db
      .selectFrom('research_batches')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && { id: row.id, projectId: row.project_id, tool: row.tool };
  }
}

const rejectedShape = z.object({
  suggestion_id: z.string(),
  at: z.string().nullable(),
  reason: z.string().nullable(),
  feedback: z.string().nullable(),
});

/** Added to a reply when the researcher turned the same suggestion down before, or it waits already. */
export const filedShape = {
  previously_rejected: rejectedShape.optional(),
  already_pending: z.boolean().optional(),
};

const text = (value: JsonValue | undefined) => (typeof value === 'string' ? value : '');
const number = (value: JsonValue | undefined) => (typeof value === 'number' ? value : 0);

export function showPending(approval: Approval): z.output<typeof pendingShape> {
  const { context } = approval;
  return {
    suggestion_id: approval.uuid,
    rationale: text(context.rationale),
    confidence: typeof context.confidence === 'number' ? context.confidence : null,
    status: approval.state,
    suggested_by: principalName(approval.requester),
    method: text(context.method) || null,
    created_at: approval.createdAt.toISOString(),
    batch_id: approval.groupId ?? null,
  };
}

/** The same for a caller who may not read everything. */
export const tellPending = (approval: Approval, lens: PrivacyView): z.output<typeof pendingShape> => {
  const shown = showPending(approval);
  return { ...shown, rationale: lens.tell(shown.rationale) };
};

export const argNumber = (args: JsonObject, name: string) => number(lookup(args, name));
export const argText = (args: JsonObject, name: string) => text(lookup(args, name));
