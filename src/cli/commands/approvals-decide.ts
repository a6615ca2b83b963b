import type { App } from '../../app/app.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import { type Outcome, outcomeData } from '../../contract/outcome.ts';
import {
  type Approval,
  type ApprovalFilter,
  type DamagedApproval,
  describeDamaged,
  isDamaged,
} from '../../contract/ports.ts';
import { isObject } from '../../lib/is-object.ts';
import { print, printJson } from '../../terminal/output.ts';
import { counted, sentence } from '../../terminal/text.ts';
import { hintOf } from '../act.ts';
import { agentName } from '../agent-name.ts';
import { asJson } from '../approval-json.ts';
import { withApp } from '../context.ts';
import { requirePersonHere } from '../person-here.ts';
import { approveOrWait } from '../signature.ts';
import { requireTool } from '../usage-error.ts';

const PAGE = 500;

export function approve(
  global: GlobalOptions,
  ids: readonly string[],
  options: { all?: boolean; batch?: string; note?: string; prepare?: boolean },
): Promise<void> {
  return withApp(global, async (app) => {
    const wanted = await chosenApprovals(app.kernel, ids, options);
    await requirePersonHere(app, onlyId(wanted));
    let failed = 0;
    const results: JsonObject[] = [];
    const hints = new Set<string>();
    for (const id of wanted) {
      try {
        const { note, prepare } = options;
        const { approval, outcome, signed } = await approveOrWait(app, global, id, { note, prepare });
        if (signed ? !APPROVED.has(approval.state) : outcome && outcome.status !== 'ok') failed += 1;
        results.push({
          id: approval.id,
          state: approval.state,
          outcome: outcome ? outcomeData(outcome) : null,
        });
        if (!global.json)
          print(`${approval.id}: ${signed ? describeSigned(approval) : describeOutcome(approval, outcome)}`);
      } catch (error) {
        if (wanted.length === 1) throw error;
        failed += 1;
        const message = error instanceof Error ? error.message : String(error);
        results.push({ id, error: message });
        if (error instanceof ToolError) for (const hint of hintOf(error)) hints.add(hint);
        if (!global.json) print(`${id}: ${message}`);
      }
    }
    if (global.json) printJson(results);
    else for (const hint of hints) print(hint);
    if (failed > 0) process.exitCode = 1;
  });
}

interface RejectOptions {
  readonly reason?: string;
  readonly feedback?: string;
  readonly batch?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly all?: boolean;
}

export function reject(global: GlobalOptions, ids: readonly string[], options: RejectOptions): Promise<void> {
  const { all, agent, tool, batch } = options;
  const many = all === true || [agent, tool, batch].some((one) => one !== undefined);
  return withApp(global, async (app) => {
    if (many === ids.length > 0)
      throw new CliError('Specify IDs, or --batch ID, --agent NAME, --tool NAME or --all.', 2);
    await requirePersonHere(app, onlyId(ids));
    if (many) return rejectMany(app, global, options);
    const rejected: (Approval | DamagedApproval)[] = [];
    for (const id of ids) {
      const approval = await app.kernel.approvals.reject(id, app.person, options);
      rejected.push(approval);
      const which = `approval ${approval.id}${isDamaged(approval) ? ', which cannot be read' : ''}`;
      if (!global.json) print(`Rejected ${which}. ${approval.tool} was not run.`);
    }
    const [only] = rejected;
    if (global.json)
      printJson(rejected.length === 1 && only ? asJson(only) : rejected.map((one) => asJson(one)));
  });
}

/** One decision for each, as if made one after the other: what another person decides first is left as it is. */
async function rejectMany(app: App, global: GlobalOptions, options: RejectOptions): Promise<void> {
  const { kernel, person, inventory } = app;
  const agent = options.agent === undefined ? undefined : agentName(options.agent);
  if (options.tool !== undefined) await requireTool(inventory, options.tool);
  if (agent !== undefined && !(await kernel.agents.isKnown(agent)))
    throw new CliError(`No agent is named ${agent}. Run \`countersign agents list\`.`, 2);
  const filter: ApprovalFilter = {
    states: ['pending'],
    order: 'oldest',
    limit: PAGE,
    requesters: agent === undefined ? undefined : [{ kind: 'agent', id: agent }],
    tools: options.tool === undefined ? undefined : [options.tool],
    ...(options.batch === undefined ? {} : { groupId: options.batch }),
  };
  const rejected: number[] = [];
  const kept: { id: number; error: string }[] = [];
  for (let afterId = 0; ; ) {
    const pending = await kernel.approvals.page({ ...filter, afterId });
    if (pending.length === 0) break;
    for (const one of pending) {
      const { id } = one;
      afterId = id;
      try {
        // What cannot be read is rejected by its ID, after the person has read its name.
        if (isDamaged(one)) throw new Error(describeDamaged(one));
        await kernel.approvals.reject(id, person, options);
        rejected.push(id);
      } catch (error) {
        kept.push({ id, error: error instanceof Error ? error.message : String(error) });
      }
    }
  }
  if (options.batch !== undefined && rejected.length + kept.length === 0) throw noPending(options.batch);
  if (kept.length > 0) process.exitCode = 1;
  if (global.json) return printJson({ rejected, failed: kept });
  if (rejected.length + kept.length === 0) return print('No pending approvals match.');
  print(`Rejected ${counted(rejected.length, 'approval')}. None of these calls was run.`);
  for (const { id, error } of kept) print(`${id}: ${error}`);
}

const onlyId = ([id, ...others]: readonly string[]): number | undefined =>
  id !== undefined && others.length === 0 && /^\d+$/.test(id) ? Number(id) : undefined;

/** The approvals that a command names: by ID, all pending ones or the pending ones of a batch. */
async function chosenApprovals(
  { approvals }: App['kernel'],
  ids: readonly string[],
  { all = false, batch }: { readonly all?: boolean; readonly batch?: string },
): Promise<readonly string[]> {
  const ways = [ids.length > 0, all, batch !== undefined].filter(Boolean).length;
  if (ways > 1) throw new CliError('Specify only one of IDs, --all and --batch.', 2);
  if (ways === 0) throw new CliError('Specify at least one ID: countersign approvals approve ID', 2);
  if (ids.length > 0) return ids;
  const found: (Approval | DamagedApproval)[] = [];
  for (;;) {
    const page = await approvals.page({
      states: ['pending'],
      order: 'oldest',
      limit: PAGE,
      offset: found.length,
      ...(batch === undefined ? {} : { groupId: batch }),
    });
    found.push(...page);
    if (page.length < PAGE) break;
  }
  if (found.length === 0)
    throw batch === undefined ? new CliError('No pending approvals.') : noPending(batch);
  return found.map(({ id }) => String(id));
}

const APPROVED: ReadonlySet<string> = new Set(['approved', 'done']);

/** The result of a call that ran in the process that got the signature. */
function describeSigned(approval: Approval): string {
  const { state, outcome: kept } = approval;
  if (state === 'approved') return describeOutcome(approval, undefined);
  const { data, message } = isObject(kept) ? kept : {};
  if (state === 'done') return `done. ${JSON.stringify(data ?? null).slice(0, 300)}`;
  const again = state === 'pending' ? 'not run; the approval is pending again' : state;
  return typeof message === 'string' ? `${again}: ${sentence(message)}` : `${again}.`;
}

const noPending = (batch: string): CliError => new CliError(`Batch ${batch} has no pending approvals.`);

function describeOutcome(approval: Approval, outcome: Outcome | undefined): string {
  if (!outcome)
    return `approved. The requester may make this call once, until ${approval.expiresAt?.toISOString() ?? 'used'}.`;
  if (outcome.status === 'ok') return `done. ${JSON.stringify(outcome.data).slice(0, 300)}`;
  if (outcome.status === 'dry_run')
    return 'not run: dry-run mode is on (mcp_policy.dry_run_mutations). The approval is pending again.';
  if ('fault' in outcome)
    return `${outcome.status}: ${sentence(outcome.fault.message)}${approval.state === 'pending' ? ' The approval is pending again.' : ''}`;
  return outcome.status;
}
