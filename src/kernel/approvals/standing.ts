import { createHash, randomUUID } from 'node:crypto';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import type { ApprovalPresentation } from '../../contract/presentation.ts';
import { type Principal, parsePrincipal, principalName } from '../../contract/principal.ts';
import {
  type ArgumentPredicate,
  MAX_STANDING_DAYS,
  type StandingApproval,
  type StandingDraft,
  type StandingState,
  type StandingTest,
  type StandingView,
} from '../../contract/standing.ts';
import type { Tool } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import { leafHash } from '../../lib/merkle.ts';
import { standingDigest } from '../../lib/standing-digest.ts';
import { type Entry, prepareEntry } from '../log/entry.ts';
import { entriesAbout } from '../log/rows/approval-entries.ts';
import { writeWithEvidence } from '../log/write.ts';
import type { SignersFor } from '../passkeys/requirement.ts';
import type { Database, Engine } from '../store/database.ts';
import type { StandingApprovalsTable, Tables } from '../store/tables.ts';
import { exactPredicates, standingSentence, uncovered } from './predicates.ts';
import { movesMoney } from './present.ts';
import { listApprovals } from './query.ts';

export interface StandingPorts {
  readonly database: Database;
  resolve(name: string): Promise<BoundTool | undefined>;
  readonly signersFor: SignersFor;
  now(): Date;
}

/** A standing approval that a call is about to use. */
export interface StandingUse {
  readonly id: number;
  readonly uuid: string;
  readonly definition: string;
}

const fingerprints = new WeakMap<Tool, string>();

/** Everything that a person relied on when they saw the tool: what it takes, what it does, what its server says. */
function definitionOf(tool: Tool): string {
  const known = fingerprints.get(tool);
  if (known !== undefined) return known;
  const { name, effect, input, definition = null } = tool;
  const text = canonicalJson({ name, effect, input: JSON.parse(JSON.stringify(input.json)), definition });
  const made = createHash('sha256').update(text).digest('hex');
  fingerprints.set(tool, made);
  return made;
}

/** Why calls of a tool always ask; undefined when a standing approval may answer. */
export function alwaysAsks(tool: Tool, args: JsonObject): string | undefined {
  if (tool.effect === 'destroy') return 'Destructive calls require approval each time.';
  if (movesMoney(tool, args)) return 'Calls that move money require approval each time.';
  if (tool.needsPermit) return 'This tool requires a permit for each exact call.';
  if (tool.composite) return 'A call that makes further calls requires approval each time.';
  if (tool.effect !== 'change') return 'Only changes can be remembered.';
  return undefined;
}

/** The decisions that people made in advance. */
export class StandingApprovals {
  readonly #ports: StandingPorts;

  constructor(ports: StandingPorts) {
    this.#ports = ports;
  }

  async list(): Promise<readonly StandingView[]> {
    const { database, resolve, now } = this.#ports;
    const rows = await database.db
      .selectFrom('standing_approvals')
      .selectAll()
      .orderBy('id', 'desc')
      .execute();
    return Promise.all(
      rows.map(async (row) => {
        const one = toStanding(row);
        const bound = await resolve(one.tool);
        return { ...one, state: stateOf(one, bound, now()), sentence: standingSentence(one) };
      }),
    );
  }

  /** Exactly this call again: what a person starts from. */
  draftFrom({ requester, tool, args }: Approval): StandingDraft {
    const week = new Date(this.#ports.now().getTime() + 7 * DAY_MS);
    return {
      agent: principalName(requester),
      tool,
      predicates: exactPredicates(args),
      until: week.toISOString(),
      uses: 10,
    };
  }

  /** What it would have answered among the last calls of this agent and tool that a person decided. */
  async test(draft: StandingDraft): Promise<StandingTest> {
    const { tool, requester } = await this.#requireValid(draft);
    const past = await listApprovals(this.#ports.database.db, {
      states: DECIDED,
      tools: [tool.name],
      kind: 'call',
      requesters: [requester],
      limit: TESTED,
    });
    const rows = past.map((one) => ({
      approval_id: one.id,
      title: one.summary,
      gist: one.gist ?? null,
      state: one.state,
      created_at: one.createdAt.toISOString(),
      why: uncovered(draft.predicates, one.args) ?? alwaysAsks(tool, one.args) ?? null,
    }));
    const answered = rows.filter(({ why }) => why === null);
    return {
      of: rows.length,
      answered,
      asked: rows.filter(({ why }) => why !== null),
      rejected: answered.filter(({ state }) => state === 'rejected').length,
    };
  }

  async add(draft: StandingDraft, by: Principal): Promise<StandingView> {
    if (by.kind !== 'person')
      throw new ToolError('policy_denied_hard_rule', 'Policy denied: only a person may approve in advance.');
    const { bound, requester } = await this.#requireValid(draft);
    const { database, now, signersFor } = this.#ports;
    if ((await signersFor({ bound, args: equalArgs(draft), requester })) > 0)
      throw new ToolError('not_allowed', SIGNED_EACH_TIME, { detail: { tool: draft.tool } });
    const at = now();
    const until = new Date(draft.until);
    if (until <= at) throw invalid('until is in the past.');
    if (until.getTime() - at.getTime() > MAX_STANDING_DAYS * DAY_MS)
      throw invalid(`until is more than ${MAX_STANDING_DAYS} days ahead.`);
    const row = {
      uuid: randomUUID(),
      agent: draft.agent,
      tool: bound.tool.name,
      toolkit: bound.toolkit.id,
      definition: definitionOf(bound.tool),
      predicates: JSON.stringify(draft.predicates),
      expires_at: until.toISOString(),
      max_uses: draft.uses,
      used: 0,
      created_at: at.toISOString(),
      created_by: principalName(by),
      revoked_at: null,
      revoked_by: null,
    };
    const stored = await writeWithEvidence(database, async ({ trx, append }) => {
      const added = await trx
        .insertInto('standing_approvals')
        .values(row)
        .returningAll()
        .executeTakeFirstOrThrow();
      append(addedEntry(added));
      return toStanding(added);
    });
    return { ...stored, state: 'active', sentence: standingSentence(stored) };
  }

  /** False when there is none, or it was revoked before. */
  async revoke(id: number, by: Principal): Promise<boolean> {
    if (by.kind !== 'person')
      throw new ToolError('policy_denied_hard_rule', 'Policy denied: only a person may revoke this.');
    const at = this.#ports.now().toISOString();
    return writeWithEvidence(this.#ports.database, async ({ trx, append }) => {
      const [row] = await trx
        .updateTable('standing_approvals')
        .set({ revoked_at: at, revoked_by: principalName(by) })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .returningAll()
        .execute();
      if (row) append(revokedEntry(row, at, principalName(by)));
      return row !== undefined;
    });
  }

  /**
   * The standing approval that answers an ask about this call, if there is one. It is used only when the call is
   * admitted; the row alone proves nothing, so the person's decision must be in the log.
   */
  async find(bound: BoundTool, args: JsonObject, principal: Principal): Promise<StandingUse | undefined> {
    const { tool } = bound;
    if (principal.kind !== 'agent' || alwaysAsks(tool, args) !== undefined) return undefined;
    const { database, now, signersFor } = this.#ports;
    const definition = definitionOf(tool);
    const rows = await database.db
      .selectFrom('standing_approvals')
      .selectAll()
      .where('agent', '=', principalName(principal))
      .where('tool', '=', tool.name)
      .where('definition', '=', definition)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', now().toISOString())
      .whereRef('used', '<', 'max_uses')
      .orderBy('id')
      .execute();
    for (const row of rows) {
      const predicates = JSON.parse(row.predicates) as ArgumentPredicate[];
      if (uncovered(predicates, args) !== undefined) continue;
      if ((await signersFor({ bound, args, requester: principal })) > 0) return undefined;
      if (await isGenuine(database.db, database.engine, row))
        return { id: row.id, uuid: row.uuid, definition };
    }
    return undefined;
  }

  async #requireValid(
    draft: StandingDraft,
  ): Promise<{ readonly bound: BoundTool; readonly tool: Tool; readonly requester: Principal }> {
    const { tool: name, predicates } = draft;
    const requester = parsePrincipal(draft.agent);
    if (requester?.kind !== 'agent') throw invalid('agent is not the name of an agent.');
    const bound = await this.#ports.resolve(name);
    if (!bound) throw new ToolError('not_found', `Tool ${name} not found.`);
    const why = alwaysAsks(bound.tool, equalArgs(draft));
    if (why !== undefined) throw new ToolError('not_allowed', why, { detail: { tool: name } });
    const twice = predicates.find(({ arg }, at) => predicates.findIndex((one) => one.arg === arg) !== at);
    if (twice) throw invalid(`${twice.arg} has two conditions.`);
    return { bound, tool: bound.tool, requester };
  }
}

/** The arguments that every call under it has. */
const equalArgs = ({ predicates }: StandingDraft): JsonObject =>
  Object.fromEntries(predicates.flatMap((one) => (one.op === 'equals' ? [[one.arg, one.value]] : [])));

export const SIGNED_EACH_TIME = 'Calls that need a passkey are signed each time.';

const DAY_MS = 86_400_000;
const TESTED = 200;
const DECIDED = ['approved', 'executing', 'done', 'failed', 'indeterminate', 'rejected'] as const;

/** Counts one use, in the transaction that admits the call. False when another call took the last one, or it ended. */
export async function countUse(trx: Transaction<Tables>, use: StandingUse, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('standing_approvals')
    .set({ used: sql`used + 1` })
    .where('id', '=', use.id)
    .where('uuid', '=', use.uuid)
    .where('definition', '=', use.definition)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', at.toISOString())
    .whereRef('used', '<', 'max_uses')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

type Row = Selectable<StandingApprovalsTable>;

/** Arguments are content that can be erased, so the entry has only their digest. */
const addedEntry = (row: Row) =>
  prepareEntry({
    kind: 'config',
    at: row.created_at,
    principal: row.created_by,
    tool: row.tool,
    toolkit: row.toolkit,
    approval: { uuid: row.uuid, digest: standingDigest(row), approver: row.created_by },
    extra: {
      standing_added: row.uuid,
      agent: row.agent,
      definition: row.definition,
      until: row.expires_at,
      uses: row.max_uses,
    },
  });

const revokedEntry = (row: Row, at: string, by: string) =>
  prepareEntry({
    kind: 'config',
    at,
    principal: by,
    tool: row.tool,
    toolkit: row.toolkit,
    approval: { uuid: row.uuid, digest: standingDigest(row) },
    extra: { standing_revoked: row.uuid },
  });

/** Whether the log has this very decision of a person, and no word that ended it. */
async function isGenuine(db: Kysely<Tables>, engine: Engine, row: Row): Promise<boolean> {
  const entries = await entriesAbout(db, engine, row.uuid);
  // A changed entry proves nothing.
  if (entries.some(({ hash, body }) => leafHash(body) !== hash)) return false;
  const settings = entries
    .map(({ body }) => JSON.parse(body) as Entry)
    .filter(({ kind }) => kind === 'config');
  const added = settings.find(({ extra }) => extra?.standing_added === row.uuid);
  const isRevoked = settings.some(({ extra }) => extra?.standing_revoked === row.uuid);
  return (
    !isRevoked &&
    added?.approval?.digest === standingDigest(row) &&
    added.principal?.startsWith('person:') === true
  );
}

const toStanding = (row: Row): StandingApproval => ({
  id: row.id,
  uuid: row.uuid,
  agent: row.agent,
  tool: row.tool,
  toolkit: row.toolkit,
  definition: row.definition,
  predicates: JSON.parse(row.predicates) as ArgumentPredicate[],
  until: row.expires_at,
  uses: row.max_uses,
  used: row.used,
  created_at: row.created_at,
  created_by: row.created_by,
  revoked_at: row.revoked_at,
  revoked_by: row.revoked_by,
});

function stateOf(one: StandingApproval, bound: BoundTool | undefined, now: Date): StandingState {
  if (one.revoked_at !== null) return 'revoked';
  if (one.until <= now.toISOString()) return 'expired';
  if (one.used >= one.uses) return 'used_up';
  if (!bound || definitionOf(bound.tool) !== one.definition) return 'changed';
  return 'active';
}

const invalid = (why: string): ToolError =>
  new ToolError('invalid_input', `Invalid standing approval: ${why}`);

/** Only an ask about a plain change of an agent can be answered for the next time. */
export function canRemember(
  { kind, rule, args, requester }: Approval,
  bound: BoundTool | undefined,
): ApprovalPresentation['remember'] {
  const why =
    kind === 'permit'
      ? 'A permit covers one exact call.'
      : rule === 'proposal'
        ? 'Suggestions are decided one by one.'
        : requester.kind !== 'agent'
          ? 'Only calls of agents can be remembered.'
          : bound
            ? alwaysAsks(bound.tool, args)
            : 'The tool is no longer available.';
  return { possible: why === undefined, why: why ?? null };
}
