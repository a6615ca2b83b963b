import type { Selectable } from 'kysely';
import { ToolError } from '../../contract/errors.ts';
import {
  APPROVAL_STATES,
  type Approval,
  type DamagedApproval,
  describeDamaged,
} from '../../contract/ports.ts';
import { ENVIRONMENTS } from '../../contract/presentation.ts';
import { type Principal, parsePrincipal } from '../../contract/principal.ts';
import { withoutSalt } from '../log/rows/approval-terms.ts';
import { parseDate, parseJson, parseObject, parseTexts } from '../store/cells.ts';
import type { ApprovalsTable } from '../store/tables.ts';

type Row = Selectable<ApprovalsTable>;

const KINDS = ['call', 'permit'] as const;

/** Thrown where a row is needed that cannot be read: no one may decide on, or run, what it only seems to say. */
export class UnreadableApproval extends ToolError {
  constructor(
    id: number,
    column: string,
    { message = describeDamaged({ id }), state }: { readonly message?: string; readonly state?: string } = {},
  ) {
    super('db_error', message, {
      retryable: false,
      hint: `Its column ${column} was damaged or changed from outside. Restore it from a backup, or reject it in the inbox.`,
      detail: { id, column, ...(state === undefined ? {} : { state }) },
    });
  }
}

class DamagedCell extends Error {
  readonly column: string;

  constructor(column: string) {
    super(`${column} cannot be read`);
    this.column = column;
  }
}

/** The row as an approval, or what of it says which one is damaged. */
export function readApproval(row: Row): Approval | DamagedApproval {
  try {
    return parseRow(row);
  } catch (error) {
    if (!(error instanceof DamagedCell)) throw error;
    const { id, version, state, tool, toolkit, effect, signers, requester } = row;
    const runId = row.run_id ?? undefined;
    return {
      id,
      version,
      state,
      tool,
      toolkit,
      effect,
      signers,
      requester,
      runId,
      damaged: error.column,
    };
  }
}

export function toApproval(row: Row): Approval {
  try {
    return parseRow(row);
  } catch (error) {
    throw error instanceof DamagedCell
      ? new UnreadableApproval(row.id, error.column, { state: row.state })
      : error;
  }
}

function must<T>(column: keyof Row, value: T | undefined): T {
  if (value === undefined) throw new DamagedCell(column);
  return value;
}

const optional = <T>(
  column: keyof Row,
  text: string | null,
  parse: (text: string) => T | undefined,
): T | undefined => (text === null ? undefined : must(column, parse(text)));

const oneOf =
  <T extends string>(values: readonly T[]) =>
  (text: string): T | undefined =>
    values.find((one) => one === text);

function parseRow(row: Row): Approval {
  const context = withoutSalt(must('context', parseObject(row.context)));
  const { ordered_by: orderedBy } = context;
  const requester = withLabel(must('requester', parsePrincipal(row.requester)), row.requester_label);
  return {
    id: row.id,
    uuid: row.uuid,
    kind: must('kind', oneOf(KINDS)(row.kind)),
    state: must('state', oneOf(APPROVAL_STATES)(row.state)),
    tool: row.tool,
    toolkit: row.toolkit,
    effect: row.effect,
    args: must('args', parseObject(row.args)),
    digest: row.digest,
    binding: optional('binding', row.binding, parseObject),
    requester: typeof orderedBy === 'string' ? { ...requester, orderedBy } : requester,
    reason: row.reason,
    rule: row.rule,
    summary: row.summary,
    gist: row.gist ?? undefined,
    environment: optional('environment', row.environment, oneOf(ENVIRONMENTS)),
    signers: row.signers,
    risks: must('risks', parseTexts(row.risks)),
    context,
    runId: row.run_id ?? undefined,
    groupId: row.group_id ?? undefined,
    createdAt: must('created_at', parseDate(row.created_at)),
    expiresAt: optional('expires_at', row.expires_at, parseDate),
    decidedAt: optional('decided_at', row.decided_at, parseDate),
    decidedBy: optional('decided_by', row.decided_by, parsePrincipal),
    decisionReason: row.decision_reason ?? undefined,
    feedback: row.feedback ?? undefined,
    callId: row.call_id ?? undefined,
    outcome: optional('outcome', row.outcome, parseJson),
    version: row.version,
  };
}

const withLabel = (principal: Principal, label: string | null): Principal =>
  label ? { ...principal, label } : principal;
