import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import { principalName } from '../../contract/principal.ts';
import { isChange } from '../../contract/tool.ts';
import { describeDatabaseError } from '../../lib/database-error.ts';
import type { AskedCall } from '../approvals/queue.ts';
import type { StandingUse } from '../approvals/standing.ts';
import { type DecisionTargets, describeDecisionTargets } from '../approvals/targets.ts';
import { beginUse } from '../approvals/use.ts';
import { signersOf } from '../log/passkeys/statement.ts';
import { writeWithEvidence } from '../log/write.ts';
import { type SignatureNeed, signatureMissing } from '../passkeys/signed.ts';
import type { Decision, PolicyCall } from '../policy/index.ts';
import type { CallLimits, Ports } from '../ports.ts';
import { type CallState, type Next, ownApproval, type Step } from './call.ts';
import { createContext } from './run.ts';

/** A rule was edited after this call was evaluated: it is evaluated again under the new one. */
export class PolicyStale extends Error {}

/** Asks policy. Only `allow`, or an approval that satisfies `ask`, lets the call go on. */
export const decidePolicy = (ports: Ports): Step => {
  let readAt = Number.NEGATIVE_INFINITY;
  // Only a change is admitted, and only admission finds that a decision is stale.
  const decide: Step = (call, next) =>
    isChange(call.request.bound.tool.effect)
      ? evaluateUntilFresh(call, next, ports)
      : evaluateCall(call, next, ports);
  const readThen = async (call: CallState, next: Next, at: number): Promise<Outcome> => {
    const refusal = await readPolicy(call, ports);
    if (refusal) return refusal;
    readAt = at;
    return decide(call, next);
  };
  return (call, next) => {
    // Changes compare stamps when they are admitted; for everything else this is how an edit elsewhere gets here.
    // A tool that was trusted a moment ago is not evaluated without the rules that name it.
    const at = ports.now().getTime();
    const isDue = ports.policy.isBehind || Math.abs(at - readAt) >= REREAD_MS;
    return isDue ? readThen(call, next, at) : decide(call, next);
  };
};

async function evaluateUntilFresh(call: CallState, next: Next, ports: Ports): Promise<Outcome> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await evaluateCall(call, next, ports);
    } catch (error) {
      if (!(error instanceof PolicyStale) || attempt >= MAX_REREADS) throw error;
      const refusal = await readPolicy(call, ports);
      if (refusal) return refusal;
    }
  }
}

const REREAD_MS = 1_000;

/** A policy that cannot be read denies; the next call tries again. */
async function readPolicy(call: CallState, { policy, log }: Ports): Promise<Outcome | undefined> {
  try {
    await policy.refresh();
    return undefined;
  } catch (error) {
    const problem = describeDatabaseError(error);
    if (problem === undefined) throw error;
    log.error('The policy could not be read', { call: call.id, error });
    return call.request.bound.tool.alwaysAnswers
      ? undefined
      : refuse(UNREADABLE, policyError(problem, error));
  }
}

const UNREADABLE = 'hard:unreadable_policy';

/** The documented code for rules or limits that the database does not give. */
export const policyError = (problem: string, cause: unknown): ToolError =>
  new ToolError('policy_error', `Policy denied: the policy could not be read. ${problem}`, { cause });

/** Rules are edited by people; one who edits faster than this is a fault. */
const MAX_REREADS = 5;

/** A permit that does not match is a refusal like any other, and counts as one in the evidence. */
async function permitFor(call: CallState, { queue }: Ports): Promise<Approval | ToolError | undefined> {
  try {
    return await queue.findPermit(askedCall(call));
  } catch (error) {
    if (
      error instanceof ToolError &&
      (error.code === 'approval_invalid' || error.code === 'approval_required')
    )
      return error;
    throw error;
  }
}

/** A part of a call is asked about with its own arguments, so what was approved for the whole says nothing about it. */
const standingFor = ({ request, args }: CallState, { standing }: Ports): Promise<StandingUse | undefined> =>
  standing.find(request.bound, args, request.principal);

/** What policy is asked about a call. */
export function policyQuery(call: CallState, now: Date): PolicyCall {
  const { bound, principal, parent } = call.request;
  const { tool, toolkit } = bound;
  return {
    subject: { name: tool.name, toolkit: toolkit.id, category: tool.category, effect: tool.effect },
    args: call.args,
    principal,
    now,
    // What a dry run calls on its way must not be real either.
    dryRunRequested: call.dryRunRequested || parent?.dryRunRequested === true,
  };
}

function evaluateCall(call: CallState, next: Next, ports: Ports): Promise<Outcome> {
  const { bound, approval, parent } = call.request;
  const { tool } = bound;
  const query = policyQuery(call, ports.now());
  const { current: policy, stamp } = ports.policy;
  call.policyStamp = stamp;
  const decision = policy.decide(query);
  call.decision = decision;

  if (decision.rule === UNREADABLE && tool.alwaysAnswers && tool.effect === 'read') return next(call);
  const asksNobody =
    decision.action === 'allow' &&
    tool.effect !== 'decide' &&
    !tool.needsPermit &&
    !approval &&
    !parent?.grant;
  if (!asksNobody) return applyDecision(call, next, ports, decision, query);
  call.grant = undefined;
  call.standing = undefined;
  call.limits = tool.composite ? [] : policy.limitsFor(query);
  return next(call);
}

async function applyDecision(
  call: CallState,
  next: Next,
  ports: Ports,
  decision: Decision,
  query: PolicyCall,
): Promise<Outcome> {
  const { bound, approval } = call.request;
  const { tool } = bound;
  const { current: policy } = ports.policy;
  switch (decision.action) {
    case 'deny':
      return refuse(
        decision.rule,
        new ToolError(decision.code ?? 'policy_denied_user_rule', `Policy denied: ${decision.reason}`),
      );
    case 'dry_run':
      return dryRun(call, decision.rule, ports);
    case 'ask':
    case 'allow': {
      const mustAsk = decision.action === 'ask';
      let grant: Approval | ToolError | undefined = approval ?? (await grantOfWhole(call, mustAsk, ports));
      if (!grant && (mustAsk || tool.needsPermit)) grant = await permitFor(call, ports);
      if (grant instanceof ToolError) return refuse('hard:permit', grant);
      if (!grant && tool.needsPermit) return refuse('hard:permit', missingPermit(call));
      call.standing = !grant && mustAsk ? await standingFor(call, ports) : undefined;
      if (!grant && mustAsk && !call.standing) return ports.queue.route(askedCall(call), decision);
      if (approval && approval.digest !== call.digest)
        return refuse('hard:approval', approvalMismatch(approval));
      call.grant = grant;
      break;
    }
    default:
      return decision.action satisfies never;
  }

  if (tool.effect === 'decide') {
    const refusal = await resolveDecider(call, ports);
    if (refusal) return refusal;
  }
  call.limits = tool.composite ? [] : policy.limitsFor(query);
  const refusal = call.grant && !isChange(tool.effect) ? await consumeForRead(call, ports) : undefined;
  return refusal ?? next(call);
}

/** How many people must have signed the decision under which a call runs, but for the mode in the log. */
export const signatureNeed = ({ decision, request }: CallState, { passkey }: CallLimits): SignatureNeed => {
  const { effect } = request.bound.tool;
  return { effect, atLeast: Math.max(decision?.signers ?? 0, signersOf(passkey ?? 'off', effect)) };
};

/** A part runs under the approval of the whole, unless more people must sign the part than have signed the whole. */
async function grantOfWhole(
  call: CallState,
  mustAsk: boolean,
  { queue }: Ports,
): Promise<Approval | undefined> {
  const { bound, principal: requester, parent } = call.request;
  if (!parent?.grant) return undefined;
  call.signers = parent.signers;
  if (!mustAsk) return parent.grant;
  const needed = await queue.ports.signersFor({ bound, args: call.args, requester });
  return needed > parent.signers ? undefined : parent.grant;
}

/** A change uses its approval up when it is admitted; a read is not admitted, and its approval works once all the same. */
async function consumeForRead(
  call: CallState,
  { database, now, queue, limits }: Ports,
): Promise<Outcome | undefined> {
  const approval = ownApproval(call);
  if (!approval) return undefined;
  try {
    call.signers = await writeWithEvidence(database, (write) =>
      beginUse(write, { approval, callId: call.id, need: signatureNeed(call, limits) }, now()),
    );
    return undefined;
  } catch (error) {
    if (
      error instanceof ToolError &&
      (error.code === 'approval_invalid' || error.code === 'signature_required')
    ) {
      await queue.closeForged(error);
      return refuse('hard:approval', error);
    }
    // It is still to be had: evidence must not say that this call used it.
    call.grant = undefined;
    throw error;
  }
}

const askedCall = ({ request, args, digest, askedDigest, runId, replayKey }: CallState): AskedCall => ({
  bound: request.bound,
  principal: request.principal,
  reason: request.reason,
  args,
  digest,
  askedDigest,
  runId,
  replayKey,
});

const refuse = (rule: string, fault: ToolError): Outcome => ({ status: 'refused', rule, fault });

const approvalMismatch = ({ id }: Approval): ToolError =>
  new ToolError(
    'approval_invalid',
    `Approval ${id} was given for a different call from the one it now contains.`,
    {
      detail: { approval_id: id },
    },
  );

const missingPermit = (call: CallState): ToolError =>
  new ToolError(
    'approval_required',
    `${call.request.bound.tool.name} requires a permit for exactly these arguments. Call approval_request first, then pass its id as approval_id.`,
  );

/** A dry run goes no further than the tool's own preview, which must not change anything. */
async function dryRun(call: CallState, rule: string, ports: Ports): Promise<Outcome> {
  const { tool } = call.request.bound;
  call.dryRunRequested = true;
  if (!tool.preview) return { status: 'dry_run', data: undefined, notes: {}, rule };
  const services = await call.request.bound.services();
  const data = await tool.preview(call.args, createContext(call, services, ports));
  return { status: 'dry_run', data, notes: call.notes, rule };
}

/** Names the first of these approvals that only a passkey can approve. */
async function findUnsigned(
  { ports: { resolve, signersFor, inboxUrl } }: Ports['queue'],
  pending: readonly Approval[],
): Promise<ToolError | undefined> {
  for (const approval of pending) {
    const { args, requester } = approval;
    const bound = await resolve(approval.tool);
    const signers = bound ? await signersFor({ bound, args, requester }) : 0;
    if (signers > 0) return signatureMissing(approval, signers, 0, await inboxUrl?.(approval.id));
  }
  return undefined;
}

/**
 * A decision belongs to a person. An agent that calls a `decide` tool speaks for one only when its client put the
 * question, or when the configuration opened this on purpose; the queue itself still refuses its own calls.
 */
async function resolveDecider(call: CallState, { limits, queue }: Ports): Promise<Outcome | undefined> {
  const { principal, consent, bound } = call.request;
  if (principal.kind === 'person') {
    call.decider = principal;
    return undefined;
  }
  if (principal.kind === 'agent' && limits.agentsMayApprove) {
    call.decider = principal;
    return undefined;
  }
  const targets = await describeDecisionTargets(queue, bound, call.args);
  const unsigned = bound.tool.decision === 'reject' ? undefined : await findUnsigned(queue, targets.pending);
  const question = `${bound.tool.title}? Requested by ${principalName(principal)}.\n${targets.text}`;
  if (unsigned) {
    // No dialog can approve these: the client may show where to sign, and its answer counts for nothing.
    const sign = consent === 'can-ask' && unsigned.detail?.sign_url;
    if (typeof sign === 'string') return { status: 'needs_person', question, about: targets.about, sign };
    return refuse('hard:person_decides', unsigned);
  }
  if (consent && !targets.isWhole && bound.tool.decision !== 'reject')
    return refuse(
      'hard:person_decides',
      new ToolError(
        'policy_denied_hard_rule',
        `Policy denied: this is more than a dialog can show. A person decides in ${await queue.inbox()}`,
      ),
    );
  const isDialogFor = consent !== undefined && (await mayDialogDecide(targets, limits, queue));
  if (isDialogFor && consent !== 'can-ask' && consent.about === targets.about) {
    call.decider = consent.person;
    call.shown = targets.ids;
    return undefined;
  }
  // Also when the person agreed to something else: what waits has changed while they read, so they are asked again.
  if (isDialogFor) return { status: 'needs_person', question, about: targets.about };
  const why =
    consent === undefined
      ? 'agents may not decide approvals.'
      : 'a dialog in the client decides only calls that stay on this computer or in a sandbox and can be undone. It stays pending.';
  const [only, ...others] = targets.ids;
  const where = await queue.inbox(others.length === 0 ? only : undefined);
  return refuse(
    'hard:person_decides',
    new ToolError('policy_denied_hard_rule', `Policy denied: ${why} A person decides in ${where}`),
  );
}

/** A file of a project can answer a client's dialog: what has consequences elsewhere is decided where no file reaches. */
async function mayDialogDecide(
  { isAboutApprovals, pending }: DecisionTargets,
  { dialogs = 'local' }: CallLimits,
  queue: Ports['queue'],
): Promise<boolean> {
  if (dialogs !== 'local') return dialogs === 'all';
  if (!isAboutApprovals) return false;
  for (const approval of pending) if (!(await queue.isContained(approval))) return false;
  return true;
}
