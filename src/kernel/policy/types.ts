import type { Effect } from '../../contract/effect.ts';
import type { FaultCode } from '../../contract/faults.ts';
import type { JsonObject, JsonSchema } from '../../contract/json.ts';
import type { Action, LimitDimension } from '../../contract/policy.ts';
import type { Principal } from '../../contract/principal.ts';

/** What policy must know of a tool to judge a call of it. */
export interface CallSubject {
  readonly name: string;
  readonly toolkit: string;
  readonly category: string;
  readonly effect: Effect;
}

/** A tool as the catalogue knows it: every name that may stand for it, and the arguments a condition may speak of. */
export interface PolicySubject extends CallSubject {
  readonly policyName?: string;
  readonly aliases?: readonly string[];
  readonly inputJson: JsonSchema;
}

export interface PolicyCall {
  readonly subject: CallSubject;
  /** As validated, with defaults filled in. */
  readonly args: JsonObject;
  readonly principal: Principal;
  readonly now: Date;
  /** The tool's own `dry_run` argument. */
  readonly dryRunRequested: boolean;
  /** A person has paused all changes. */
  readonly paused?: boolean;
}

export type StepSource = 'hard' | 'setting' | 'call' | 'rule' | 'template' | 'list' | 'default';

/** One rule that had a say, in the order they were asked. */
export interface TraceStep {
  readonly rule: string;
  readonly source: StepSource;
  readonly action: Action;
  readonly reason: string;
}

export interface Decision {
  readonly action: Action;
  /** The rule that decided: the first of the strictest. */
  readonly rule: string;
  readonly reason: string;
  /** Set when the action is `deny`. */
  readonly code?: FaultCode;
  readonly trace: readonly TraceStep[];
  readonly policyVersion: string;
}

/** One counter this call counts in. Windows are fixed and aligned to the epoch: an hour starts on the hour. */
export interface Limit {
  /** Names the counter, not only the limit: a limit on every agent has one counter for each. */
  readonly key: string;
  readonly max: number;
  readonly periodSeconds: number;
  readonly dimension: LimitDimension;
  readonly match: string;
}

/** What `policy explain` prints: also the rules that had no say, and why. */
export interface Explanation {
  readonly decision: Decision;
  readonly considered: readonly Consideration[];
  readonly limits: readonly Limit[];
}

export interface Consideration extends TraceStep {
  readonly applied: boolean;
  /** Why it applied or not. */
  readonly why: string;
}

export interface Policy {
  /** SHA-256 of the canonical policy; stored with every decision. */
  readonly version: string;
  decide(call: PolicyCall): Decision;
  limitsFor(call: Pick<PolicyCall, 'subject' | 'principal'>): readonly Limit[];
  /** Every limit in force as configured, for status pages. */
  readonly limits: readonly Limit[];
  explain(call: PolicyCall): Explanation;
  /** The tool a documented name, alias or policy name stands for. */
  find(name: string): PolicySubject | undefined;
  /** What is configured, as `[mcp_policy]` writes it, with the effective mode and the template's rules. */
  status(): JsonObject;
}
