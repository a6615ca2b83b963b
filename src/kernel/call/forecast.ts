import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Action } from '../../contract/policy.ts';
import { type Principal, principalName } from '../../contract/principal.ts';
import { asksForDryRun, isChange } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import type { Decision, Explanation, PolicyCall } from '../policy/index.ts';
import { findFullLimit } from '../policy/usage.ts';
import type { Ports } from '../ports.ts';
import { isPaused, pausedAgents } from '../store/pause.ts';
import { agentPaused } from './caller.ts';

/** What the pipeline would answer, short of running anything: the decision of policy and every check after it. */
export interface Forecast {
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
  /** Rules with conditions on the arguments, and how lenient they can make it; absent where arguments change nothing. */
  readonly depends?: { readonly rules: readonly string[]; readonly loosest: Action };
  /** The standing approval that would answer an ask. */
  readonly standing?: number;
}

export interface Forecaster {
  /** One exact call; `explanation` is what policy alone says of it. */
  call(asked: AskedForecast): Promise<{ readonly forecast: Forecast; readonly explanation: Explanation }>;
  /** Every call of these tools by this principal, whatever its arguments. */
  tools(tools: readonly BoundTool[], principal: Principal): Promise<ReadonlyMap<string, Forecast>>;
}

export interface AskedForecast {
  readonly bound: BoundTool;
  readonly args: JsonObject;
  readonly principal: Principal;
  /** When the call would be made; now if absent. */
  readonly at?: Date;
}

type ForecastPorts = Pick<Ports, 'database' | 'policy' | 'queue' | 'standing' | 'limits' | 'now'>;

interface State {
  readonly paused: boolean;
  readonly agents: ReadonlyMap<string, string>;
}

/** Reads the same things as the steps of the pipeline, in the same order, and changes nothing. */
export function createForecaster(ports: ForecastPorts): Forecaster {
  const { database, policy, limits, now } = ports;
  const readState = async (): Promise<State> => {
    await policy.refresh();
    return { paused: await isPaused(database.db), agents: await pausedAgents(database.db) };
  };
  return {
    async call({ bound, args, principal, at = now() }) {
      const state = await readState();
      const dryRunRequested = asksForDryRun(bound.tool, args);
      const asked = { subject: subjectOf(bound), args, principal, now: at, dryRunRequested };
      const explanation = policy.current.explain(asked);
      const decided =
        refusedCaller(principal, state) ?? (await afterPolicy(bound, asked, explanation.decision));
      return { explanation, forecast: await afterAdmission(bound, principal, state, decided, at) };
    },
    async tools(tools, principal) {
      const state = await readState();
      const at = now();
      return new Map(
        await Promise.all(
          tools.map(async (bound) => [bound.tool.name, await anyCall(bound, principal, state, at)] as const),
        ),
      );
    },
  };

  async function afterPolicy(
    bound: BoundTool,
    { args, principal }: PolicyCall,
    { action, rule, reason }: Decision,
  ): Promise<Forecast> {
    if (rule === 'hard:unreadable_policy' && bound.tool.alwaysAnswers) return ANSWERS;
    if (action === 'deny' || action === 'dry_run') return { action, rule, reason };
    const mustAsk = action === 'ask';
    if (!mustAsk && !bound.tool.needsPermit) return { action, rule, reason };
    try {
      const permit = await ports.queue.findPermit({ bound, args, principal });
      if (permit) return { action: 'allow', rule: 'permit', reason: `permit ${permit.id} allows it` };
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return { action: 'deny', rule: 'hard:permit', reason: error.message };
    }
    if (bound.tool.needsPermit) return needsPermit(bound);
    const standing = await ports.standing.find(bound, args, principal);
    return standing
      ? {
          action: 'allow',
          rule: `standing:${standing.id}`,
          reason: `standing approval ${standing.id} answers`,
          standing: standing.id,
        }
      : { action, rule, reason };
  }

  async function anyCall(bound: BoundTool, principal: Principal, state: State, at: Date): Promise<Forecast> {
    const stopped = refusedCaller(principal, state);
    if (stopped) return stopped;
    const asked = { subject: subjectOf(bound), args: {}, principal, now: at, dryRunRequested: false };
    const read = (assume: 'strictest' | 'loosest') => policy.current.decide({ ...asked, assume });
    const answer = (decision: Decision): Promise<Forecast> =>
      afterAdmission(bound, principal, state, withoutArguments(bound, decision), at);
    const strictest = read('strictest');
    const outcome = await answer(strictest);
    if (!strictest.depends) return outcome;
    const loosest = await answer(read('loosest'));
    return loosest.action === outcome.action
      ? outcome
      : { ...outcome, depends: { rules: strictest.depends, loosest: loosest.action } };
  }

  /** What stops a call that policy lets run. */
  async function afterAdmission(
    bound: BoundTool,
    principal: Principal,
    { paused }: State,
    decided: Forecast,
    at: Date,
  ): Promise<Forecast> {
    if (decided.action !== 'allow') return decided;
    const { effect } = bound.tool;
    const mayDecide = principal.kind === 'person' || (principal.kind === 'agent' && limits.agentsMayApprove);
    if (effect === 'decide' && !mayDecide)
      return {
        action: 'deny',
        rule: 'hard:person_decides',
        reason: `only a person decides approvals; ${principalName(principal)} can ask one through a dialog of its client`,
      };
    if (!isChange(effect)) return decided;
    if (paused) return PAUSED;
    const full = await findFullLimit(database, policy.current, bound, principal, at);
    return full === undefined ? decided : { action: 'deny', rule: `limit:${full}`, reason: 'rate limited' };
  }
}

function withoutArguments(bound: BoundTool, { action, rule, reason }: Decision): Forecast {
  if (rule === 'hard:unreadable_policy' && bound.tool.alwaysAnswers) return ANSWERS;
  const isOpen = action === 'allow' || action === 'ask';
  return isOpen && bound.tool.needsPermit ? needsPermit(bound) : { action, rule, reason };
}

const subjectOf = ({ tool, toolkit }: BoundTool): PolicyCall['subject'] => ({
  name: tool.name,
  toolkit: toolkit.id,
  category: tool.category,
  effect: tool.effect,
});

/** Calls of a paused agent are refused before anything else is looked at. */
const refusedCaller = (principal: Principal, { agents }: State): Forecast | undefined =>
  principal.kind === 'agent' && agents.has(principal.id)
    ? { action: 'deny', rule: 'hard:agent_paused', reason: agentPaused(principal).message }
    : undefined;

const needsPermit = ({ tool }: BoundTool): Forecast => ({
  action: 'deny',
  rule: 'hard:permit',
  reason: `tool '${tool.name}' requires a permit for exactly its arguments; approval_request asks for one`,
});

const ANSWERS: Forecast = { action: 'allow', rule: 'default', reason: 'it reports the state of the server' };

const PAUSED: Forecast = {
  action: 'deny',
  rule: 'hard:paused',
  reason: 'a person paused all changes',
};
