import { readFileSync } from 'node:fs';
import type { App } from '../../app/app.ts';
import { ACTED_NAMES } from '../../app/app.ts';
import { createExposure } from '../../catalogue/exposure.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import type { JsonObject } from '../../contract/json.ts';
import {
  APPROVAL_STATES,
  type Approval,
  type ApprovalFilter,
  type ApprovalState,
  type DamagedApproval,
  describeDamaged,
  isDamaged,
} from '../../contract/ports.ts';
import { type ApprovalPresentation, ENVIRONMENTS } from '../../contract/presentation.ts';
import { describeRequester, parsePrincipal, principalName } from '../../contract/principal.ts';
import { approvalEdits, countFacets, type FacetCounts } from '../../kernel/approvals/query.ts';
import { approvalDifferences, findMarked } from '../../kernel/views/approval-evidence.ts';
import { previewDiff } from '../../lib/preview-diff.ts';
import { showUnseenLine } from '../../lib/unseen.ts';
import { colorOf, paint } from '../../terminal/color.ts';
import { printChange, printDiff } from '../../terminal/diff.ts';
import { type Painted, print, printJson, printStderr, table } from '../../terminal/output.ts';
import { behind, describeBody, describeFacts } from '../../terminal/presentation.ts';
import { age, counted, limitOf, parseArgs, plainText, since } from '../../terminal/text.ts';
import { asJson, describeListed } from '../approval-json.ts';
import { withApp } from '../context.ts';
import { requirePersonHere } from '../person-here.ts';
import { approveOrWait } from '../signature.ts';
import { mustBeToolkit, requireTool } from '../usage-error.ts';

const MOST_ROWS = 10_000;

interface ListOptions {
  readonly state?: string;
  readonly limit?: string;
  readonly toolkit?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly environment?: string;
  readonly effect?: string;
  readonly run?: string;
  readonly since?: string;
  readonly search?: string;
}

export function listApprovals(global: GlobalOptions, options: ListOptions): Promise<void> {
  return withApp(global, async ({ kernel, inventory, database, now }) => {
    const states = parseStates(options.state);
    const limit = limitOf(options.limit, MOST_ROWS);
    mustBeToolkit(inventory, options.toolkit);
    const filter = filterOf(options, now());
    const order = options.state === undefined ? 'danger' : 'newest';
    const rows = await kernel.approvals.page({ ...filter, states, limit, order, fresh: true });
    if (global.json) {
      const marked = await findMarked(database, rows);
      return printJson(rows.map((one) => asJson(one, marked.has(one.id) ? { differs: true } : {})));
    }
    const tell = async (found: readonly (Approval | DamagedApproval)[]): Promise<void> => {
      const marked = await findMarked(database, found);
      const cells = found.map((one) => {
        const id = String(one.id);
        if (isDamaged(one)) return [id, plainText(one.state), '', '', '', describeDamaged(one)];
        return [
          id,
          { text: one.state, color: colorOf(one.state) },
          age(one.createdAt, now()),
          plainText(describeRequester(one.requester)),
          riskOf(one),
          describeListed(one, marked),
        ];
      });
      print(table(['ID', 'STATE', 'AGE', 'REQUESTER', 'RISK', 'ACTION'], cells, 110));
    };
    const waiting = states.includes('pending');
    if (rows.length === 0) print(waiting ? 'No pending approvals.' : 'No approvals match.');
    else {
      await tell(rows);
      const facets = await countFacets(database.db, { ...filter, states });
      print(`\n${describeTotals(await kernel.approvals.count({ ...filter, states }), rows.length, facets)}`);
      if (waiting)
        print('\nView: countersign approvals show ID   Decide: countersign approvals approve|reject|edit ID');
    }
    if (options.state !== undefined) return;
    const given = await kernel.approvals.page({
      ...filter,
      states: ['approved'],
      kind: 'permit',
      limit,
      order: 'oldest',
    });
    if (given.length === 0) return;
    print('\nUnused permits:');
    await tell(given);
    print('\nWithdraw one: countersign approvals withdraw ID');
  });
}

export function showApproval(
  global: GlobalOptions,
  id: string,
  options: { diff?: boolean; args?: boolean } = {},
): Promise<void> {
  return withApp(global, async ({ kernel, database }) => {
    const approval = await kernel.approvals.get(id);
    if (!approval) throw new CliError(`Approval ${id} not found.`);
    const edits = await approvalEdits(database.db, approval.id);
    const presentation = await kernel.approvals.present(approval);
    const differences = await approvalDifferences(database, approval);
    if (differences.length > 0) process.exitCode = 1;
    const diff = presentation.body.find((block) => block.type === 'diff');
    if (options.diff) {
      if (!diff) throw new CliError(`Approval ${id} has no diff.`);
      const text = previewDiff(diff);
      return global.json ? printJson({ id: approval.id, diff: text.toString('utf8') }) : printDiff(text);
    }
    if (global.json)
      return printJson({
        ...asJson(approval),
        edits,
        differences,
        presentation,
        ...(diff ? { diff: previewDiff(diff).toString('utf8') } : {}),
      });
    if (differences.length > 0)
      printStderr(
        `Warning: approval ${approval.id} is not what the audit log has: it ${differences.map(plainText).join('; ')}. Do not rely on what is shown; run \`countersign audit verify\`.`,
      );
    print(describe(approval, presentation, options.args === true));
    for (const edit of edits)
      print(
        showUnseenLine(`Edited ${edit.edited_at} by ${edit.editor}: ${edit.old_args} → ${edit.new_args}`),
      );
    // Last, so a pipe ends with the diff as git prints it.
    if (diff) printChange(diff);
  });
}

export function withdraw(global: GlobalOptions, id: string): Promise<void> {
  return withApp(global, async ({ kernel, person }) => {
    const approval = await kernel.approvals.withdraw(id, person);
    if (global.json) printJson(asJson(approval));
    else print(`Withdrew approval ${approval.id}. It can no longer authorize ${approval.tool}.`);
  });
}

export function editApproval(
  global: GlobalOptions,
  id: string,
  options: { args?: string; file?: string },
): Promise<void> {
  return withApp(global, async (app) => {
    const { kernel, person } = app;
    const text =
      options.file === undefined
        ? options.args
        : readFileSync(options.file === '-' ? 0 : options.file, 'utf8');
    if (text === undefined)
      throw new CliError('Provide the new arguments with --args JSON or --file FILE.', 2);
    await requirePersonHere(app);
    const approval = await kernel.approvals.edit(id, person, parseArgs(text));
    if (global.json) printJson(asJson(approval));
    else
      print(
        `Edited approval ${approval.id}: ${approval.summary}\nTo approve it: countersign approvals approve ${approval.id}`,
      );
  });
}

/** A person may ask for a permit on an agent's behalf; the agent is its requester, the person decides. */
export function permit(
  global: GlobalOptions,
  tool: string,
  options: { args: string; for: string; reason?: string },
): Promise<void> {
  return withApp(global, async (app) => {
    const { kernel, person } = app;
    await requireAgent(app, options.for);
    await requireTool(app.inventory, tool);
    await requirePersonHere(app);
    const requester = { kind: 'agent' as const, id: options.for };
    const { id } = await kernel.approvals.propose({
      tool,
      args: parseArgs(options.args),
      requester,
      reason: options.reason ?? `Created by ${principalName(person)}`,
      context: { created_by: principalName(person) },
      kind: 'permit',
    });
    const { approval } = await approveOrWait(app, global, id);
    if (approval.state !== 'approved') throw new CliError(`Permit ${id} is ${approval.state}.`);
    const { profile, toolkits } = app.config;
    const { names } = createExposure(app.inventory, { profile, toolkits, discovery: false });
    if (!names.includes(approval.tool))
      printStderr(
        `Warning: no agent can call ${approval.tool}: profile ${profile} with toolkits ${toolkits.join(', ')} does not expose it.`,
      );
    if (global.json) printJson(asJson(approval));
    else
      print(
        `Created permit ${approval.id} (${approval.uuid}) for agent ${options.for}: ${approval.summary}\nValid for one call, until ${approval.expiresAt?.toISOString() ?? 'used'}.`,
      );
  });
}

/** A permit for an unknown agent would never be used, and would give a false sense of safety. */
async function requireAgent({ kernel }: App, name: string): Promise<void> {
  const active = (await kernel.agents.list()).filter(({ revokedAt }) => revokedAt === undefined);
  const known = ['local', ...ACTED_NAMES, ...active.map((agent) => agent.name)];
  if (!known.includes(name))
    throw new CliError(`Unknown agent "${name}". Known agents: ${known.join(', ')}.`, 2);
}

export function settle(
  global: GlobalOptions,
  callId: string,
  options: { happened?: boolean; notHappened?: boolean },
): Promise<void> {
  return withApp(global, async (app) => {
    const { kernel, person } = app;
    if (options.happened === options.notHappened)
      throw new CliError('Specify --happened or --not-happened.', 2);
    await requirePersonHere(app);
    const done = await kernel.settle(callId, options.happened === true, person);
    if (!done) throw new CliError(`Call ${callId} is not indeterminate; there is nothing to settle.`);
    if (global.json) return printJson({ call_id: callId, happened: options.happened === true });
    print(`Settled call ${callId}: the change ${options.happened ? 'happened' : 'did not happen'}.`);
  });
}

const riskOf = ({ effect, risks }: Approval): Painted =>
  effect === 'destroy'
    ? { text: 'DESTROYS', color: 'red' }
    : { text: risks.length > 0 ? counted(risks.length, 'note') : '', color: 'yellow' };

function filterOf(options: ListOptions, now: Date): ApprovalFilter {
  const { agent, tool, environment, effect, run, search } = options;
  const known = ENVIRONMENTS.find((one) => one === environment);
  if (environment !== undefined && !known)
    throw new CliError(`Unknown environment "${environment}". Valid: ${ENVIRONMENTS.join(', ')}.`, 2);
  const requester =
    agent === undefined ? undefined : parsePrincipal(agent.includes(':') ? agent : `agent:${agent}`);
  return {
    ...(options.toolkit ? { toolkit: options.toolkit } : {}),
    ...(requester ? { requesters: [requester] } : {}),
    ...(tool ? { tools: [tool] } : {}),
    ...(known ? { environments: [known] } : {}),
    ...(effect ? { effects: [effect] } : {}),
    ...(run ? { runId: run } : {}),
    ...(search ? { text: search } : {}),
    ...(options.since ? { askedSince: since(options.since, now) } : {}),
  };
}

/** `12 approvals: 9 by agent:mira, 3 by agent:bolt · 2 live, 10 sandbox · 1 destroy, 11 change`. */
function describeTotals(total: number, listed: number, facets: FacetCounts): string {
  const counts = (facet: keyof FacetCounts, word = ''): string =>
    facets[facet]
      .slice(0, 4)
      .map(({ value, count }) => `${count} ${word}${plainText(value)}`)
      .join(', ');
  const parts = [counts('requester', 'by '), counts('environment'), counts('effect')].filter(Boolean);
  const some = listed < total ? ` (${listed} listed)` : '';
  return `${counted(total, 'approval')}${some}: ${parts.join(' · ')}`;
}

function parseStates(text: string | undefined): ApprovalState[] {
  if (text === undefined) return ['pending'];
  if (text === 'all') return [...APPROVAL_STATES];
  return text.split(',').map((one) => {
    const state = APPROVAL_STATES.find((known) => known === one.trim());
    if (!state)
      throw new CliError(`Unknown state "${one}". Valid states: ${APPROVAL_STATES.join(', ')}, all.`, 2);
    return state;
  });
}

function describe(one: Approval, shown: ApprovalPresentation, withArgs: boolean): string {
  const who = showUnseenLine(principalName(one.requester));
  const lines = [
    paint('bold', showUnseenLine(shown.title)),
    '',
    `Approval    ${one.id}  ${one.uuid}`,
    `State       ${one.state}${one.kind === 'permit' ? ' (permit: authorizes one exact call)' : ''}`,
    `Requester   ${who}${one.requester.label ? ` (${showUnseenLine(one.requester.label)})` : ''}`,
    `Tool        ${showUnseenLine(one.tool)} (${one.toolkit}, ${one.effect})`,
    describeFacts(shown),
    `Requested   ${one.createdAt.toISOString()}`,
    `Expires     ${one.expiresAt?.toISOString() ?? 'never'}`,
  ];
  if (one.binding) lines.push(`Bound to    ${behind(12, boundTo(one.binding))}`);
  if (one.decidedBy)
    lines.push(`Decided by  ${principalName(one.decidedBy)} at ${one.decidedAt?.toISOString()}`);
  if (one.decisionReason) lines.push(`Note        ${behind(12, one.decisionReason)}`);
  if (one.feedback) lines.push(`Feedback    ${behind(12, one.feedback)}`);
  const body = describeBody(shown.body);
  if (body) lines.push('', body);
  if (withArgs) lines.push('', 'Exact arguments', plainText(JSON.stringify(one.args, null, 2)));
  if (one.outcome !== undefined) lines.push('', 'Result', plainText(JSON.stringify(one.outcome, null, 2)));
  return lines.join('\n');
}

const boundTo = (binding: JsonObject): string =>
  Object.entries(binding)
    .map(([name, value]) => `${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
