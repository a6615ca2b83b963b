import type { ErrorCode } from '../../contract/errors.ts';
import type { JsonObject, JsonSchema } from '../../contract/json.ts';
import type { Action, LimitDimension, PolicyStatus } from '../../contract/policy.ts';
import type { Principal } from '../../contract/principal.ts';
import type { Effect } from '../../contract/tool.ts';

/** What policy must know of a tool to evaluate a call of it. */
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
  /** The arguments are not known; a condition on them is taken to decide the strictest or the loosest way. */
  readonly assume?: 'strictest' | 'loosest';
}

export type StepSource = 'hard' | 'setting' | 'call' | 'rule' | 'template' | 'list' | 'default';

/** One rule that applied, in the order of evaluation. */
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
  readonly code?: ErrorCode;
  /** How many people must sign with a passkey: the most that any matching rule requires. */
  readonly signers?: number;
  /** Rules with a condition on arguments that are not known; set with `assume` only. */
  readonly depends?: readonly string[];
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

/** What `policy explain` prints: also the rules that did not apply, and why. */
export interface Explanation {
  readonly decision: Decision;
  readonly considered: readonly RuleTrace[];
  readonly limits: readonly Limit[];
}

export interface RuleTrace extends TraceStep {
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
  status(): PolicyStatus;
}
