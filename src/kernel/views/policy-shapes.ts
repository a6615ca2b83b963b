import type { z } from 'zod';
import type {
  Action,
  PolicyStatus,
  policyOverrides,
  TemplateName,
  WrittenRule,
} from '../../contract/policy.ts';
import type { StandingDraft } from '../../contract/standing.ts';
import type { DeepReadonly } from '../../contract/view.ts';

export type Rule = WrittenRule;
export type Overrides = DeepReadonly<z.input<typeof policyOverrides>>;

export interface PolicyData {
  readonly status: PolicyStatus;
  readonly limits: readonly {
    readonly key: string;
    readonly dimension: string;
    readonly match: string;
    readonly max: number;
    readonly used: number;
    readonly resetAt: string;
  }[];
  readonly overrides: Overrides;
  /** How often each rule asked, refused or made a call dry in the last 7 days. */
  readonly hits: Readonly<Record<string, number>>;
  /** Rules of the configuration file. */
  readonly configured: readonly Rule[];
  readonly templates: readonly {
    readonly name: TemplateName;
    readonly doc: string;
    readonly rules: readonly string[];
  }[];
}

/** One row of `GET /policy/matrix`: what would happen to any call of the tool. */
export interface MatrixRow {
  readonly tool: string;
  readonly title: string;
  readonly toolkit: string;
  readonly category: string;
  readonly effect: string;
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
  /** Rules with conditions on the arguments, and the most lenient decision they can lead to. */
  readonly depends: { readonly rules: readonly string[]; readonly loosest: Action } | null;
  /** False where the principal cannot call the tool itself, whatever policy says. */
  readonly offered: boolean;
}

export interface MatrixData {
  readonly principal: string;
  readonly rows: readonly MatrixRow[];
}

/** `GET /policy/rules/:id`: a rule as a decision names it, built-in ones included. */
export interface RuleData {
  readonly id: string;
  readonly title: string;
  readonly sentence: string | null;
}

/** `POST /policy/explain`: what would happen to one exact call, under the policy in force or with a draft rule. */
export interface ExplainData {
  readonly tool: string;
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
  readonly considered: readonly {
    readonly rule: string;
    readonly source: string;
    readonly action: Action;
    readonly applied: boolean;
    readonly why: string;
  }[];
}

/** What is wrong with one field of a rule. */
export interface RuleIssue {
  readonly rule?: string;
  readonly field: string;
  readonly message: string;
}

/** `POST /policy/replay`: what is wrong with a draft rule, or else what it would have changed. No tool is run. */
export interface ReplayReply {
  readonly issues: readonly RuleIssue[];
  readonly replay: ReplayData | null;
}

/** What a draft rule would have changed about past calls. */
export interface ReplayData {
  readonly looked_at: number;
  readonly unchanged: number;
  readonly still_ask: number;
  readonly no_longer_ask: number;
  readonly newly_ask: number;
  /** Calls that it would have let run although a person rejected them. */
  readonly lets_through_rejected: number;
  /** Calls whose arguments are no longer stored although a condition reads them. */
  readonly unknown: number;
  /** Rejected ones first, then loosened ones, newest first within each. */
  readonly changes: readonly ReplayChange[];
  /** Changes that are not listed. */
  readonly more: number;
}

export interface ReplayChange {
  readonly call_id: string;
  readonly at: string;
  readonly title: string;
  readonly gist: string | null;
  readonly principal: string;
  readonly before: Action;
  readonly after: Action;
  readonly reason: string;
  /** How a person decided it; null where no one was asked or has decided. */
  readonly decided: 'approved' | 'rejected' | null;
}

/** `GET /policy/recommendations` and `countersign policy recommend`. */
export interface Recommendation {
  readonly kind: 'standing' | 'rule';
  readonly agent: string;
  readonly tool: string;
  /** What it is about, in words. */
  readonly title: string;
  readonly sentence: string;
  /** What it is based on: how people decided the calls of this agent and tool. */
  readonly evidence: {
    readonly asked: number;
    readonly approved: number;
    readonly edited: number;
    readonly rejected: number;
    readonly since: string;
    /** Some of these approvals, newest first. */
    readonly approvals: readonly number[];
  };
  /** To be saved as it is, or after narrowing. */
  readonly draft: StandingDraft | null;
  readonly rule: Rule | null;
}

export interface RecommendationsData {
  readonly recommendations: readonly Recommendation[];
  readonly looked_at: number;
}
