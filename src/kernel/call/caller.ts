import { ToolError } from '../../contract/errors.ts';
import type { Principal } from '../../contract/principal.ts';
import type { Ports } from '../ports.ts';
import { pausedAgents } from '../store/pause.ts';
import type { Step } from './call.ts';

const REREAD_MS = 1_000;

/**
 * Refuses what has nothing to do with the call itself: its agent is paused, or its transport has no room left for this
 * agent. Changes are compared with the stored pause once more when they are admitted.
 */
export const checkCaller = (ports: Ports): Step => {
  let readAt = Number.NEGATIVE_INFINITY;
  let paused: ReadonlyMap<string, string> = new Map();
  const refuseOr: Step = async (call, next) => {
    const { principal, refusal } = call.request;
    if (refusal) return { status: 'refused', rule: 'hard:fair_share', fault: refusal };
    return principal.kind === 'agent' && paused.has(principal.id)
      ? { status: 'refused', rule: 'hard:agent_paused', fault: agentPaused(principal) }
      : next(call);
  };
  const readThen: Step = async (call, next) => {
    try {
      paused = await pausedAgents(ports.database.db);
    } catch (error) {
      // What reports on the server itself answers on what was known last.
      if (!call.request.bound.tool.alwaysAnswers) throw error;
    }
    return refuseOr(call, next);
  };
  return (call, next) => {
    const { principal, refusal } = call.request;
    if (refusal) return refuseOr(call, next);
    if (principal.kind !== 'agent') return next(call);
    const at = ports.now().getTime();
    if (Math.abs(at - readAt) >= REREAD_MS) {
      readAt = at;
      return readThen(call, next);
    }
    return paused.size === 0 ? next(call) : refuseOr(call, next);
  };
};

export const agentPaused = ({ id }: Principal): ToolError =>
  new ToolError('agent_paused', `A person paused agent ${id}.`, { detail: { agent: id } });
