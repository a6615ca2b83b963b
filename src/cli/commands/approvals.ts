import { readFileSync } from 'node:fs';
import type { App } from '../../app.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval, ApprovalState } from '../../contract/ports.ts';
import { APPROVAL_STATES } from '../../contract/ports.ts';
import { principalName } from '../../contract/principal.ts';
import { outcomeData } from '../../kernel/evidence.ts';
import { createExposure } from '../../registry/exposure.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { mustBeTool, mustBeToolkit } from '../names.ts';
import { complain, print, printJson, table } from '../output.ts';
import { plainText } from '../plain-text.ts';
import { age, limitOf, parseArgs, sentence } from '../text.ts';
import { proposedDiff } from './dev-change.ts';

const MOST_ROWS = 10_000;

export function listApprovals(
  global: GlobalOptions,
  options: { state?: string; limit?: string; toolkit?: string },
): Promise<void> {
  return withApp(global, async ({ kernel, inventory, now }) => {
    const states = parseStates(options.state);
    const limit = limitOf(options.limit, MOST_ROWS);
    mustBeToolkit(inventory, options.toolkit);
    const rows = await kernel.approvals.list({ states, limit, toolkit: options.toolkit, order: 'oldest' });
    if (global.json) return printJson(rows.map(asJson));
    const tell = (found: readonly Approval[]): void => {
      const cells = found.map((one) => [
        String(one.id),
        one.state,
        age(one.createdAt, now()),
        plainText(principalName(one.requester)),
        one.tool,
        plainText(one.summary),
      ]);
      print(table(['ID', 'STATE', 'AGE', 'ASKED BY', 'TOOL', 'WHAT WILL HAPPEN'], cells, 70));
    };
    const waiting = states.includes('pending');
    if (rows.length === 0) print(waiting ? 'Nothing is waiting for you.' : 'Nothing found.');
    else {
      tell(rows);
      if (waiting)
        print('\nLook: countersign approvals show ID   Decide: countersign approvals approve|reject|edit ID');
    }
    if (options.state !== undefined) return;
    const given = await kernel.approvals.list({
      states: ['approved'],
      kind: 'permit',
      toolkit: options.toolkit,
      limit,
      order: 'oldest',
    });
    if (given.length === 0) return;
    print('\nPermits you gave that are not used yet:');
    tell(given);
    print('\nTake one back: countersign approvals withdraw ID');
  });
}

export function showApproval(global: GlobalOptions, id: string): Promise<void> {
  return withApp(global, async ({ kernel, database }) => {
    const approval = await kernel.approvals.get(id);
    if (!approval) throw new CliError(`There is no approval ${id}.`);
    const edits = await database.db
      .selectFrom('approval_edits')
      .selectAll()
      .where('approval_id', '=', approval.id)
      .orderBy('edited_at')
      .execute();
    if (global.json) return printJson({ ...asJson(approval), edits });
    print(describe(approval, await proposedDiff(approval.args)));
    for (const edit of edits)
      print(`Edited ${edit.edited_at} by ${edit.editor}: ${edit.old_args} → ${edit.new_args}`);
  });
}

export function approve(
  global: GlobalOptions,
  ids: readonly string[],
  options: { all?: boolean; note?: string },
): Promise<void> {
  return withApp(global, async ({ kernel, person }) => {
    if (options.all && ids.length > 0) throw new CliError('Name ids or use --all, not both.', 2);
    const wanted = options.all
      ? (await kernel.approvals.list({ states: ['pending'], order: 'oldest', limit: 500 })).map(({ id }) =>
          String(id),
        )
      : ids;
    if (wanted.length === 0)
      throw new CliError(
        options.all ? 'Nothing is waiting.' : 'Say which: countersign approvals approve ID',
        options.all ? 1 : 2,
      );
    let failed = 0;
    const results: JsonObject[] = [];
    for (const id of wanted) {
      try {
        const { approval, outcome } = await kernel.approvals.approve(id, person, { note: options.note });
        if (outcome && outcome.status !== 'ok') failed += 1;
        results.push({
          id: approval.id,
          state: approval.state,
          outcome: outcome ? outcomeData(outcome) : null,
        });
        if (!global.json) print(`${approval.id}: ${tellOutcome(approval, outcome)}`);
      } catch (error) {
        if (wanted.length === 1) throw error;
        failed += 1;
        const message = error instanceof Error ? error.message : String(error);
        results.push({ id, error: message });
        if (!global.json) print(`${id}: ${message}`);
      }
    }
    if (global.json) printJson(results);
    if (failed > 0) process.exitCode = 1;
  });
}

export function reject(
  global: GlobalOptions,
  id: string,
  options: { reason?: string; feedback?: string },
): Promise<void> {
  return withApp(global, async ({ kernel, person }) => {
    const approval = await kernel.approvals.reject(id, person, options);
    if (global.json) printJson(asJson(approval));
    else print(`${approval.id}: rejected. ${approval.tool} was not run.`);
  });
}

export function withdraw(global: GlobalOptions, id: string): Promise<void> {
  return withApp(global, async ({ kernel, person }) => {
    const approval = await kernel.approvals.withdraw(id, person);
    if (global.json) printJson(asJson(approval));
    else print(`${approval.id}: withdrawn. ${approval.tool} will not run by it.`);
  });
}

export function editApproval(
  global: GlobalOptions,
  id: string,
  options: { args?: string; file?: string },
): Promise<void> {
  return withApp(global, async ({ kernel, person }) => {
    const text =
      options.file === undefined
        ? options.args
        : readFileSync(options.file === '-' ? 0 : options.file, 'utf8');
    if (text === undefined) throw new CliError('Give the new arguments: --args JSON or --file FILE.', 2);
    const approval = await kernel.approvals.edit(id, person, parseArgs(text));
    if (global.json) printJson(asJson(approval));
    else
      print(
        `${approval.id}: edited. ${approval.summary}\nApprove it with: countersign approvals approve ${approval.id}`,
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
    await mustBeAgent(app, options.for);
    await mustBeTool(app.inventory, tool);
    const requester = { kind: 'agent' as const, id: options.for };
    const { id } = await kernel.approvals.propose({
      tool,
      args: parseArgs(options.args),
      requester,
      reason: options.reason ?? `Given by ${principalName(person)}`,
      context: { created_by: principalName(person) },
      kind: 'permit',
    });
    const { approval } = await kernel.approvals.approve(id, person);
    const { profile, toolkits } = app.config;
    const { names } = createExposure(app.inventory, { profile, toolkits, discovery: false });
    if (!names.includes(approval.tool))
      complain(
        `Warning: agents cannot call ${approval.tool}: it is not offered with profile ${profile} and toolkits ${toolkits.join(', ')}.`,
      );
    if (global.json) printJson(asJson(approval));
    else
      print(
        `Permit ${approval.id} (${approval.uuid}) for agent ${options.for}: ${approval.summary}\nIt works once, until ${approval.expiresAt?.toISOString() ?? 'used'}.`,
      );
  });
}

/** A permit for a name that nobody has would never be used, and would look like safety. */
async function mustBeAgent({ kernel }: App, name: string): Promise<void> {
  const active = (await kernel.agents.list()).filter(({ revokedAt }) => revokedAt === undefined);
  const known = ['local', 'assistant', ...active.map((agent) => agent.name)];
  if (!known.includes(name))
    throw new CliError(`There is no agent "${name}"; known: ${known.join(', ')}.`, 2);
}

export function settle(
  global: GlobalOptions,
  callId: string,
  options: { happened?: boolean; notHappened?: boolean },
): Promise<void> {
  return withApp(global, async ({ kernel, person }) => {
    if (options.happened === options.notHappened)
      throw new CliError('Say which: --happened or --not-happened.', 2);
    const done = await kernel.settle(callId, options.happened === true, person);
    if (!done) throw new CliError(`Call ${callId} is not waiting to be settled.`);
    print(`Settled: the change ${options.happened ? 'happened' : 'did not happen'}.`);
  });
}

function parseStates(text: string | undefined): ApprovalState[] {
  if (text === undefined) return ['pending'];
  if (text === 'all') return [...APPROVAL_STATES];
  return text.split(',').map((one) => {
    const state = APPROVAL_STATES.find((known) => known === one.trim());
    if (!state)
      throw new CliError(`There is no state "${one}"; known: ${APPROVAL_STATES.join(', ')}, all.`, 2);
    return state;
  });
}

function tellOutcome(approval: Approval, outcome: Outcome | undefined): string {
  if (!outcome)
    return `approved. The call may now be made once, until ${approval.expiresAt?.toISOString() ?? 'used'}.`;
  if (outcome.status === 'ok') return `done. ${JSON.stringify(outcome.data).slice(0, 300)}`;
  if (outcome.status === 'dry_run')
    return 'not run: dry runs are on (mcp_policy.dry_run_mutations). It waits again.';
  if ('fault' in outcome)
    return `${outcome.status}: ${sentence(outcome.fault.message)}${approval.state === 'pending' ? ' It waits again.' : ''}`;
  return outcome.status;
}

function describe(one: Approval, diff: string | undefined): string {
  const lines = [
    `Approval ${one.id}  ${one.uuid}`,
    `State       ${one.state}${one.kind === 'permit' ? ' (permit: lets one exact call through)' : ''}`,
    `What        ${plainText(one.summary)}`,
    `Tool        ${one.tool} (${one.toolkit}, ${one.effect})`,
    `Asked by    ${plainText(principalName(one.requester))}${one.requester.label ? ` (${plainText(one.requester.label)})` : ''}`,
    `Why         ${plainText(one.reason)}`,
    `Rule        ${one.rule}`,
    `Asked at    ${one.createdAt.toISOString()}`,
    `Expires     ${one.expiresAt?.toISOString() ?? 'never'}`,
  ];
  if (one.binding) lines.push(`Only while  ${plainText(boundTo(one.binding))}`);
  for (const risk of one.risks) lines.push(`Risk        ${plainText(risk)}`);
  if (one.decidedBy)
    lines.push(`Decided by  ${principalName(one.decidedBy)} at ${one.decidedAt?.toISOString()}`);
  if (one.decisionReason) lines.push(`Reason      ${one.decisionReason}`);
  if (one.feedback) lines.push(`Feedback    ${one.feedback}`);
  const { files: _files, ...others } = one.args;
  lines.push('', 'Arguments', plainText(JSON.stringify(diff === undefined ? one.args : others, null, 2)));
  if (diff !== undefined) lines.push('', 'Files', diff);
  if (one.outcome !== undefined)
    lines.push('', 'What it gave', plainText(JSON.stringify(one.outcome, null, 2)));
  return lines.join('\n');
}

const boundTo = (binding: JsonObject): string =>
  Object.entries(binding)
    .map(([name, value]) => `${name} is ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');

function asJson(one: Approval): JsonObject {
  return JSON.parse(
    JSON.stringify({
      ...one,
      requester: principalName(one.requester),
      decidedBy: one.decidedBy && principalName(one.decidedBy),
    }),
  ) as JsonObject;
}
