import { z } from 'zod';
import type { JsonValue } from './json.ts';

const json: z.ZodType<JsonValue> = z.json() as unknown as z.ZodType<JsonValue>;

/** What one argument of a call must be. Every argument needs one: a call with any other argument does not match. */
export const argumentPredicate = z.discriminatedUnion('op', [
  z.strictObject({ arg: z.string().min(1), op: z.literal('equals'), value: json }),
  z.strictObject({ arg: z.string().min(1), op: z.literal('one_of'), values: z.array(json).min(1).max(50) }),
  z.strictObject({ arg: z.string().min(1), op: z.literal('starts_with'), text: z.string().min(1) }),
  z.strictObject({ arg: z.string().min(1), op: z.literal('at_most'), number: z.number() }),
  /** Text without links, or with links to these hosts only. */
  z.strictObject({
    arg: z.string().min(1),
    op: z.literal('links_only'),
    hosts: z.array(z.string().min(1).max(253).toLowerCase()).max(20),
  }),
  z.strictObject({ arg: z.string().min(1), op: z.literal('any') }),
]);
export type ArgumentPredicate = z.output<typeof argumentPredicate>;

export const MAX_STANDING_DAYS = 30;
const MAX_STANDING_USES = 1000;

/** A person's answer to calls that have not come yet. It answers `ask`, and nothing else. */
export const standingDraft = z.strictObject({
  /** The principal it is for: `agent:mira`. */
  agent: z.string().regex(/^agent:.+$/, 'must be an agent such as agent:mira'),
  tool: z.string().min(1),
  predicates: z.array(argumentPredicate).max(100),
  until: z.iso.datetime(),
  uses: z.int().min(1).max(MAX_STANDING_USES),
});
export type StandingDraft = z.output<typeof standingDraft>;

export type StandingState = 'active' | 'used_up' | 'expired' | 'revoked' | 'changed';

export interface StandingApproval extends StandingDraft {
  readonly id: number;
  readonly uuid: string;
  readonly toolkit: string;
  /** Fingerprint of the tool's definition; another definition is another tool. */
  readonly definition: string;
  readonly used: number;
  readonly created_at: string;
  readonly created_by: string;
  readonly revoked_at: string | null;
  readonly revoked_by: string | null;
}

/** As pages and the command line show it. */
export interface StandingView extends StandingApproval {
  /** `changed`: the definition of the tool is no longer the one that the person saw. */
  readonly state: StandingState;
  readonly sentence: string;
}

/** What a standing approval would have answered, among the last calls that a person decided. */
export interface StandingTest {
  readonly of: number;
  readonly answered: readonly StandingTestRow[];
  readonly asked: readonly StandingTestRow[];
  /** How many of the answered ones a person had rejected. */
  readonly rejected: number;
}

export interface StandingTestRow {
  readonly approval_id: number;
  readonly title: string;
  readonly gist: string | null;
  readonly state: string;
  readonly created_at: string;
  /** Why it would still ask; null for those that would be answered. */
  readonly why: string | null;
}
