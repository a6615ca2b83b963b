import { isChange } from '../../contract/effect.ts';
import { ToolFault } from '../../contract/faults.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import { principalName } from '../../contract/principal.ts';
import { consumeGrant } from '../admission/grant.ts';
import { describeDecisionTargets } from '../approvals/question.ts';
import type { CallState, Next, Step } from '../call.ts';
import { createContext } from '../context.ts';
import type { PolicyCall } from '../policy/index.ts';
import type { Ports } from '../ports.ts';
import { PolicyStale } from './stale.ts';

/** Asks policy. Only `allow`, or an approval that satisfies `ask`, lets the call go on. */
export const decidePolicy = (ports: Ports): Step => {
  let readAt = Number.NEGATIVE_INFINITY;
  return async (call, next) => {
    // Changes compare stamps when they are admitted; for everything else this is how an edit elsewhere gets here.
    const at = ports.now().getTime();
    if (Math.abs(at - readAt) >= REREAD_MS) {
      readAt = at;
      await ports.policy.refresh();
    }
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await judge(call, next, ports);
      } catch (error) {
        if (!(error instanceof PolicyStale) || attempt >= MAX_REREADS) throw error;
        await ports.policy.refresh();
      }
    }
  };
};

const REREAD_MS = 1_000;

/** Rules are edited by people; one who edits faster than this is a fault. */
const MAX_REREADS = 5;

/** A permit that does not fit is a refusal like any other, and counts as one in the evidence. */
async function permitFor(call: CallState, { queue }: Ports): Promise<Approval | ToolFault | undefined> {
  try {
    return await queue.findPermit(call);
  } catch (error) {
    if (
      error instanceof ToolFault &&
      (error.code === 'approval_invalid' || error.code === 'approval_required')
    )
      return error;
    throw error;
  }
}

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

async function judge(call: CallState, next: Next, ports: Ports): Promise<Outcome> {
  const { bound, approval, parent } = call.request;
  const { tool } = bound;
  const query = policyQuery(call, ports.now());
  const { current: policy, stamp } = ports.policy;
  call.policyStamp = stamp;
  const decision = policy.decide(query);
  call.decision = decision;

  switch (decision.action) {
    case 'deny':
      return refuse(
        decision.rule,
        new ToolFault(decision.code ?? 'policy_denied_user_rule', `Policy denied: ${decision.reason}`),
      );
    case 'dry_run':
      return dryRun(call, decision.rule, ports);
    case 'ask':
    case 'allow': {
      const mustAsk = decision.action === 'ask';
      let grant: Approval | ToolFault | undefined = approval ?? parent?.grant;
      if (!grant && (mustAsk || tool.needsPermit)) grant = await permitFor(call, ports);
      if (grant instanceof ToolFault) return refuse('hard:permit', grant);
      if (!grant && tool.needsPermit) return refuse('hard:permit', missingPermit(call));
      if (!grant && mustAsk) return ports.queue.route(call, decision);
      if (approval && approval.digest !== call.digest) return refuse('hard:approval', notThisCall(approval));
      call.grant = grant;
      break;
    }
    default:
      return decision.action satisfies never;
  }

  if (tool.effect === 'decide') {
    const refusal = await settleDecider(call, ports);
    if (refusal) return refusal;
  }
  call.limits = tool.composite ? [] : policy.limitsFor(query);
  const refusal = call.grant && !isChange(tool.effect) ? await consumeForRead(call, ports) : undefined;
  return refusal ?? next();
}

/** A change uses its approval up when it is admitted; a read is not admitted, and its approval works once all the same. */
async function consumeForRead(call: CallState, { database, now }: Ports): Promise<Outcome | undefined> {
  try {
    if (call.grant !== call.request.parent?.grant)
      await database.write((trx) => consumeGrant(trx, call, now()));
    return undefined;
  } catch (error) {
    if (error instanceof ToolFault && error.code === 'approval_invalid')
      return refuse('hard:approval', error);
    // It is still to be had: evidence must not say that this call used it.
    call.grant = undefined;
    throw error;
  }
}

const refuse = (rule: string, fault: ToolFault): Outcome => ({ status: 'refused', rule, fault });

const notThisCall = ({ id }: Approval): ToolFault =>
  new ToolFault('approval_invalid', `Approval ${id} was given for another call than the one it now holds.`, {
    detail: { approval_id: id },
  });

const missingPermit = (call: CallState): ToolFault =>
  new ToolFault(
    'approval_required',
    `${call.request.bound.tool.name} needs an approval for exactly these arguments. Call approval_request first and pass its id as approval_id.`,
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

/**
 * A decision belongs to a person. An agent that calls a `decide` tool speaks for one only when its client put the
 * question, or when the configuration opened this on purpose; the queue itself still refuses its own calls.
 */
async function settleDecider(call: CallState, { limits, queue }: Ports): Promise<Outcome | undefined> {
  const { principal, consent, bound } = call.request;
  if (principal.kind === 'person') {
    call.decider = principal;
    return undefined;
  }
  if (principal.kind === 'agent' && limits.agentsMayApprove) {
    call.decider = principal;
    return undefined;
  }
  const targets = await describeDecisionTargets(queue, bound.toolkit.id, call.args);
  if (consent && consent !== 'can-ask' && consent.about === targets.about) {
    call.decider = consent.person;
    call.shown = targets.ids;
    return undefined;
  }
  // Also when the person agreed to something else: what waits has changed while they read, so they are asked again.
  if (consent) {
    return {
      status: 'needs_person',
      question: `${bound.tool.title}? Asked by ${principalName(principal)}.\n${targets.text}`,
      about: targets.about,
    };
  }
  return refuse(
    'hard:person_decides',
    new ToolFault(
      'policy_denied_hard_rule',
      `Policy denied: an agent may not decide what waits for a person. A person can run: ${targets.command}`,
      { detail: { command: targets.command } },
    ),
  );
}
