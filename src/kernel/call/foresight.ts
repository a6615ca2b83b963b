import { ToolError } from '../../contract/errors.ts';
import type { Foresee } from '../approvals/queue.ts';
import { limitsOf } from '../policy/usage.ts';
import type { PolicySource } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { changesPaused, isPaused, pausedAgents } from '../store/pause.ts';
import { agentPaused } from './caller.ts';

export interface ForesightPorts {
  readonly database: Database;
  readonly policy: PolicySource;
  now(): Date;
}

/**
 * Asks everything that admission asks before a person is asked to sign: a signature for a call that is refused anyway
 * would have to be given a second time. Admission itself decides, on what is true then.
 */
export const createForesight =
  ({ database, policy, now }: ForesightPorts): Foresee =>
  async (bound, { args, requester, kind }) => {
    if (await isPaused(database.db)) return changesPaused();
    if (requester.kind === 'agent' && (await pausedAgents(database.db)).has(requester.id))
      return agentPaused(requester);
    await policy.refresh();
    const { name, category, effect } = bound.tool;
    const subject = { name, toolkit: bound.toolkit.id, category, effect };
    const call = { subject, args, principal: requester, now: now(), dryRunRequested: false };
    const { action, reason, code } = policy.current.decide(call);
    if (action === 'deny')
      return new ToolError(code ?? 'policy_denied_user_rule', `Policy denied: ${reason}`);
    // A permit is for a later call, whose limits and mode are those of that time.
    if (kind === 'permit') return undefined;
    if (action === 'dry_run')
      return new ToolError(
        'not_allowed',
        'Dry-run mode is on (mcp_policy.dry_run_mutations), so the call would not run. Nothing was signed.',
      );
    const limits = await limitsOf(args, database, policy.current, bound, requester, now());
    const full = limits.find(({ used, of }) => used >= of);
    if (!full) return undefined;
    const { key, of: max, period_seconds } = full;
    return new ToolError('policy_denied_rate_limited', 'Policy denied: rate limited', {
      detail: { limit: key, max, period_seconds },
    });
  };
