import type { z } from 'zod';
import type { Effect, Reach } from './effect.ts';
import type { FaultCode } from './faults.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { ArtifactRef, ContentPart, Outcome, Settlement } from './outcome.ts';
import type { Principal } from './principal.ts';
import type { Profile } from './profile.ts';
import { type Schema, zodSchema } from './schema.ts';

/** What a handler is given, and nothing more: its kit's services, the caller, a clock, a way to stop. */
export interface ToolContext<S> {
  readonly services: S;
  readonly callId: string;
  readonly principal: Principal;
  /** Set for `decide` tools: the person (or permitted agent) whose decision this is. */
  readonly decider: Principal | undefined;
  /**
   * Ids of the approvals a person saw before they answered a dialog. A tool that decides several at once decides
   * these and no others; undefined when the decider chose by themselves.
   */
  readonly shown?: ReadonlySet<number> | undefined;
  /** Set when a person approved this very call. */
  readonly approvedBy: Principal | undefined;
  /** What the permit of this call is bound to, exactly as `bind` said when the permit was checked. */
  readonly binding?: JsonObject | undefined;
  /** Fires on cancel and at the deadline; every handler that waits must honour it. */
  readonly signal: AbortSignal;
  now(): Date;
  /** Tells a waiting client what is going on. */
  progress(message: string, done?: number, total?: number): void;
  /** Stores bytes by their hash; the hash becomes part of the call's evidence. */
  artifact(name: string, mediaType: string, body: string | Uint8Array): Promise<ArtifactRef>;
  /** Adds to the reply's meta (pagination, rollback, qa_artifacts); the dialect decides how it is shown. */
  note(notes: JsonObject): void;
  /** Adds pictures or files to the reply beside the text. */
  attach(part: ContentPart): void;
  /** Runs another tool as part of this call: the same pipeline, the same principal; this call's approval covers it. */
  call(tool: string, args: JsonObject, options?: { idempotencyKey?: string }): Promise<Outcome>;
}

/** The call that takes another back. `first` are calls of the same tool to make before it, each with these arguments. */
export interface Rollback {
  readonly tool: string;
  readonly args: JsonObject;
  readonly first?: readonly JsonObject[];
}

export interface ReconcileContext<S> {
  readonly services: S;
  /** The interrupted call; tools that leave a hidden marker at the far side use this id as the marker. */
  readonly callId: string;
  readonly startedAt: Date;
  readonly signal: AbortSignal;
}

export interface Tool<S = unknown> {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly effect: Effect;
  readonly reach: Reach;
  readonly category: string;
  readonly profiles: readonly Profile[];
  /** The name policy may also use (`github.issues.create`). */
  readonly policyName?: string;
  /** Fault codes this tool can give beyond those of the kernel. */
  readonly faults: readonly FaultCode[];
  /** What the tool needs, for the manifest. */
  readonly requires?: Requirements;
  readonly input: Schema;
  /** The data a successful call returns, before the dialect wraps it. */
  readonly output: Schema;
  /** Top-level arguments kept only as salted hashes in the evidence. */
  readonly privateArgs?: readonly string[];
  /** Top-level fields of the data and of the notes that evidence likewise keeps only as salted hashes. */
  readonly privateData?: readonly string[];
  /** What evidence may keep of arguments and results, where private parts stand inside of values. */
  forEvidence?(part: JsonValue): JsonValue;
  /** The call only spreads work over `context.call`; limits count the inner calls, not this one. */
  readonly composite?: boolean;
  /** Longest a call may take in milliseconds when the general deadline is too short for this kind of work. */
  readonly deadlineMs?: number;
  /** Clients that understand task handles get one at once instead of waiting for the answer. */
  readonly mayTakeLong?: boolean;

  /** What will happen, in plain words, for the person who decides. */
  describeApproval?(args: JsonObject): string;
  /** Notes on what could go wrong, for the person who decides. */
  risks?(args: JsonObject): readonly string[];
  /** Within this scope an equal call is made once (the run of an issue). Undefined: no implicit replay. */
  replayScope?(args: JsonObject): string | undefined;
  /** What the evidence groups this call under (a run id). */
  runOf?(args: JsonObject): string | undefined;
  /** What a permit is bound to beyond the arguments (repo and base commit). */
  bind?(args: JsonObject, services: S): Promise<JsonObject>;
  /** True when only a permit lets this call happen (`approval_id` names it). */
  readonly needsPermit?: boolean;
  /** What fully undoes a done call, for the undo button. */
  rollback?(args: JsonObject, data: JsonValue, callId?: string): Rollback | undefined;
  /** A semantic check before policy, without effect; throws ToolFault. */
  check?(args: JsonObject, services: S): Promise<void> | void;
  /** What a dry run shows beyond the arguments; must not change anything. */
  preview?(args: JsonObject, context: ToolContext<S>): Promise<JsonValue>;
  run(args: JsonObject, context: ToolContext<S>): Promise<JsonValue>;
  /**
   * Looks at the far side after a crash and says whether the effect happened. It must not change or finish anything
   * there: it runs by itself, and no pause, policy or limit is checked on its way. Only notes in the kit's own store may
   * be settled. Where `not_done` leaves half a change standing, the same call sent again must take it over.
   */
  reconcile?(args: JsonObject, context: ReconcileContext<S>): Promise<Settlement>;
}

export interface Requirements {
  readonly xClient?: boolean;
  readonly llm?: boolean;
  readonly db?: boolean;
  readonly userAuth?: boolean;
  readonly elevatedAccess?: boolean;
  readonly scopes?: readonly string[];
}

/** A tool as its author writes it: zod types in, typed handler arguments out. */
export interface ToolSpec<S, I extends z.ZodObject, O extends z.ZodType>
  extends Omit<
    Tool<S>,
    | 'input'
    | 'output'
    | 'run'
    | 'preview'
    | 'describeApproval'
    | 'risks'
    | 'replayScope'
    | 'runOf'
    | 'bind'
    | 'rollback'
    | 'check'
    | 'reconcile'
  > {
  readonly input: I;
  readonly output: O;
  describeApproval?(args: z.output<I>): string;
  risks?(args: z.output<I>): readonly string[];
  replayScope?(args: z.output<I>): string | undefined;
  runOf?(args: z.output<I>): string | undefined;
  bind?(args: z.output<I>, services: S): Promise<JsonObject>;
  rollback?(args: z.output<I>, data: z.output<O>, callId?: string): Rollback | undefined;
  check?(args: z.output<I>, services: S): Promise<void> | void;
  preview?(args: z.output<I>, context: ToolContext<S>): Promise<JsonValue>;
  run(args: z.output<I>, context: ToolContext<S>): Promise<z.input<O>>;
  reconcile?(args: z.output<I>, context: ReconcileContext<S>): Promise<Settlement>;
}

/**
 * Binds a kit's services once: `export const defineLedgerTool = toolFactory<LedgerServices>()`.
 * Inputs are made strict here, so that no tool can forget to refuse an unknown argument.
 */
export function toolFactory<S>() {
  return <I extends z.ZodObject, O extends z.ZodType>(spec: ToolSpec<S, I, O>): Tool<S> =>
    // The kernel parses arguments with `input` before any of these functions sees them, which is what makes
    // their narrower argument types true.
    ({
      ...spec,
      input: zodSchema(spec.input.strict()),
      output: zodSchema(spec.output, 'output'),
    }) as unknown as Tool<S>;
}
