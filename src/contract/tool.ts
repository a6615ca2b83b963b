import type { z } from 'zod';
import type { JsonObject, JsonValue } from './json.ts';
import type { ArtifactRef, ContentPart, Outcome, Settlement } from './outcome.ts';
import type { LimitUse, Presentation, PresentationDraft } from './presentation.ts';
import type { Principal } from './principal.ts';
import { type Schema, zodSchema } from './schema.ts';

/** What a handler is given, and nothing more: its kit's services, the caller, a clock, a way to stop. */
export interface ToolContext<S> {
  readonly services: S;
  readonly callId: string;
  readonly principal: Principal;
  /** Names the caller's connection where there is one that lasts, else the caller and its client. */
  readonly connection?: string | undefined;
  /** Set for `decide` tools: the person (or permitted agent) whose decision this is. */
  readonly decider: Principal | undefined;
  /**
   * Ids of the approvals a person saw before they answered a dialog. A tool that decides several together decides
   * these and no others; undefined when the decider chose without a list.
   */
  readonly shown?: ReadonlySet<number> | undefined;
  /** The approval under which this call runs: its own, or that of the call it is part of. */
  readonly approval: CallApproval | undefined;
  /** What the caller's request carried in addition to its arguments; a gateway passes it on, nothing else reads it. */
  readonly meta?: JsonObject | undefined;
  /** A way to ask the calling client, for a gateway; undefined where no client waits for the call. */
  readonly ask?: ClientAsk | undefined;
  /** Set where the caller takes a handle in place of the result, should the remote server give one. */
  readonly task?: TaskOffer | undefined;
  /** The tool's own `prepare` completed the arguments, now or before the call was queued for a person. */
  readonly isPrepared?: boolean | undefined;
  /** Passes a remote server's log message on to the calling client; undefined where no client waits for the call. */
  readonly log?: ((message: RemoteLogMessage) => void) | undefined;
  /** Fires on cancel and at the deadline; every handler that waits must honour it. */
  readonly signal: AbortSignal;
  now(): Date;
  /** Reports progress to a waiting client. */
  progress(message: string, done?: number, total?: number): void;
  /** Stores bytes by their hash; the hash becomes part of the call's evidence. */
  artifact(name: string, mediaType: string, body: string | Uint8Array): Promise<ArtifactRef>;
  /** Adds to the reply's meta (pagination, rollback, qa_artifacts); the dialect decides how it is shown. */
  note(notes: JsonObject): void;
  /** Adds facts to the call's audit entry, such as which tree a test ran on; they are not part of the reply. */
  evidence(facts: JsonObject): void;
  /** Adds pictures or files to the reply in addition to the text. */
  attach(part: ContentPart): void;
  /** Runs another tool as part of this call: the same pipeline, the same principal; this call's approval covers it. */
  call(
    tool: string,
    args: JsonObject,
    options?: { idempotencyKey?: string; ask?: ClientAsk },
  ): Promise<Outcome>;
}

/** Passes a remote server's questions on to the client that made the call; the call waits for the answers. */
export interface ClientAsk {
  /** What the client declared: `elicitation`, `sampling`, `roots`. */
  readonly capabilities: JsonObject;
  /**
   * Requests of the protocol by key; the answers have the same keys, but for what policy refused. Fails when the client
   * gave up.
   */
  put(requests: JsonObject): Promise<JsonObject>;
}

/** A caller that takes a handle in place of a result. */
export interface TaskOffer {
  /** The remote server made a task of the call: the caller gets a handle now and the call continues. */
  begin(): void;
}

/** A remote server's log message, as the protocol has it. */
export interface RemoteLogMessage {
  readonly level: string;
  readonly logger?: string | undefined;
  readonly data: JsonValue;
}

/** What a handler may know of the approval under which it runs. */
export interface CallApproval {
  readonly id: number;
  readonly uuid: string;
  readonly digest: string;
  readonly approver: Principal | undefined;
  /** What a permit is bound to, exactly as `bind` said when the permit was checked. */
  readonly binding: JsonObject | undefined;
}

/** The approvals a `decide` call is about: some by ID, the pending ones of a group, or all pending calls of the toolkit. */
export type DecisionScope =
  | { readonly ids: readonly (string | number)[] }
  | { readonly group: string }
  | 'all-pending';

/** The call that undoes another. `first` are calls of the same tool to make before it, each with these arguments. */
export interface Rollback {
  readonly tool: string;
  readonly args: JsonObject;
  readonly first?: readonly JsonObject[];
}

export interface PrepareContext<S> {
  readonly services: S;
  readonly signal: AbortSignal;
}

/** Completes arguments that leave something open. It must have no other effect. */
export interface Preparation<S, A = JsonObject> {
  complete(context: PrepareContext<S>): Promise<A>;
}

export interface PresentContext<S> {
  readonly services: S;
  /** The requester. Title and main content may be shown to it again, so they say only what it may know. */
  readonly principal: Principal;
  /** Under what the call was asked; undefined while it is being asked. */
  readonly asked: { readonly at: Date; readonly context: JsonObject } | undefined;
  /** What the permit is bound to; undefined where none is asked for. */
  readonly binding: JsonObject | undefined;
  /** What was stored when the call was asked; undefined then. Parts that cannot change since may be taken from it. */
  readonly earlier: Presentation | undefined;
  readonly signal: AbortSignal;
}

export interface ReconcileContext<S> {
  readonly services: S;
  /** The interrupted call; tools that leave a hidden marker at the remote service use this id as the marker. */
  readonly callId: string;
  readonly startedAt: Date;
  readonly signal: AbortSignal;
}

/** O is the data that a successful call returns, as far as it is known. */
export interface Tool<S = unknown, O = unknown> {
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
  readonly errors: readonly string[];
  /** What the tool needs, for the manifest. */
  readonly requires?: Requirements;
  readonly input: Schema;
  /** The data a successful call returns, before the dialect wraps it. */
  readonly output: Schema<O>;
  /**
   * Arguments that steer the call and are not part of what it does, so that a permit does not cover them. Only a toolkit of
   * ours declares any: all arguments of a remote tool are its own, whatever their names, and none is read or left out.
   */
  readonly governanceArgs?: readonly GovernanceArg[];
  /** It may use `context.ask`: the call then outlives single requests of its client. */
  readonly asksClient?: boolean;
  /** How a remote server lists it; only its name and what contradicts `effect` is replaced. */
  readonly definition?: JsonObject;
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
  /** Clients that understand task handles get one immediately instead of waiting for the answer. */
  readonly mayTakeLong?: boolean;
  /** Only a remote server knows which calls take long: the handle is given when it makes a task of the call. */
  readonly remoteTasks?: boolean;
  /** Evidence keeps the result as well, although the effect is `read`. */
  readonly keepsResult?: boolean;
  /** Its work continues without a caller that left or timed out; the reason of its signal says which it was. */
  readonly outlivesCaller?: boolean;

  /** Notes on what could go wrong, for the person who decides. */
  risks?(args: JsonObject): readonly string[];
  /** Within this scope an equal call is made once (the run of an issue). Undefined: no implicit replay. */
  replayScope?(args: JsonObject): string | undefined;
  /** What the evidence groups this call under (a run id). */
  runOf?(args: JsonObject): string | undefined;
  /** What a permit is bound to beyond the arguments (repo and base commit). */
  bind?(args: JsonObject, services: S): Promise<JsonObject>;
  /** For `decide` tools: which approvals the arguments name, so that the person is shown exactly those. */
  decides?(args: JsonObject): DecisionScope;
  /** For `decide` tools: what they decide; approve unless it says so. Rejecting needs no signature. */
  readonly decision?: 'approve' | 'reject';
  /**
   * How a person sees the call before they decide: names for IDs, the text as it will appear, the diff. Resolved and stored
   * when the call is asked, and again when it is shown. Throws ToolError where the call could not succeed, so that no one
   * is asked in vain; must not change anything. Without it the call is presented from its schema.
   */
  present?(args: JsonObject, context: PresentContext<S>): Promise<PresentationDraft> | PresentationDraft;
  /** The toolkit's own limits that the call counts in, for the person who decides. `run` enforces them. */
  limits?(args: JsonObject, services: S): Promise<readonly LimitUse[]>;
  /** The call moves money: no standing approval answers for it. */
  readonly movesMoney?: boolean | ((args: JsonObject) => boolean);
  /**
   * Reports how the server itself is, and must do so when the database does not work: a policy that cannot be read does
   * not deny it, and its answer is not withheld when it cannot be recorded. Rules that can be read apply. Reads only.
   */
  readonly alwaysAnswers?: boolean;
  /** True when only a permit lets this call happen (`approval_id` names it). */
  readonly needsPermit?: boolean;
  /** What fully undoes a done call, for the undo button. */
  rollback?(args: JsonObject, data: JsonValue, callId?: string): Rollback | undefined;
  /** A semantic check before policy, without effect; throws ToolError. */
  check?(args: JsonObject, services: S, principal?: Principal): Promise<void> | void;
  /**
   * For arguments that leave something open, such as a text that a model is to write: what completes them, undefined
   * where they are complete. It runs before policy decides, so that a person is asked about exactly what will happen; a
   * call that policy denies is not completed.
   */
  prepare?(args: JsonObject): Preparation<S> | undefined;
  /** What a dry run shows beyond the arguments; must not change anything. */
  preview?(args: JsonObject, context: ToolContext<S>): Promise<JsonValue>;
  run(args: JsonObject, context: ToolContext<S>): Promise<JsonValue>;
  /**
   * Reads the remote service after a crash and says whether the effect happened. It must not change or finish anything
   * there: it runs automatically, and no pause, policy or limit is checked on its way. Only notes in the kit's own store may
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
    | 'risks'
    | 'replayScope'
    | 'runOf'
    | 'bind'
    | 'decides'
    | 'present'
    | 'limits'
    | 'rollback'
    | 'check'
    | 'prepare'
    | 'reconcile'
  > {
  readonly input: I;
  readonly output: O;
  risks?(args: z.output<I>): readonly string[];
  replayScope?(args: z.output<I>): string | undefined;
  runOf?(args: z.output<I>): string | undefined;
  bind?(args: z.output<I>, services: S): Promise<JsonObject>;
  decides?(args: z.output<I>): DecisionScope;
  present?(args: z.output<I>, context: PresentContext<S>): Promise<PresentationDraft> | PresentationDraft;
  limits?(args: z.output<I>, services: S): Promise<readonly LimitUse[]>;
  rollback?(args: z.output<I>, data: z.output<O>, callId?: string): Rollback | undefined;
  check?(args: z.output<I>, services: S, principal?: Principal): Promise<void> | void;
  prepare?(args: z.output<I>): Preparation<S, z.input<I>> | undefined;
  preview?(args: z.output<I>, context: ToolContext<S>): Promise<JsonValue>;
  run(args: z.output<I>, context: ToolContext<S>): Promise<z.input<O>>;
  reconcile?(args: z.output<I>, context: ReconcileContext<S>): Promise<Settlement>;
}

/**
 * Binds a kit's services once: `export const defineLedgerTool = toolFactory<LedgerServices>()`.
 * Inputs are made strict here, so that no tool can forget to refuse an unknown argument.
 */
export function toolFactory<S>() {
  return <I extends z.ZodObject, O extends z.ZodType>(spec: ToolSpec<S, I, O>): Tool<S, z.output<O>> =>
    // The kernel parses arguments with `input` before any of these functions sees them, which is what makes
    // their narrower argument types true.
    ({
      ...spec,
      input: zodSchema(spec.input.strict()),
      output: zodSchema(spec.output, 'output'),
    }) as unknown as Tool<S, z.output<O>>;
}

/** `dry_run` asks to change nothing; `approval_id` names the permit to use. */
export type GovernanceArg = 'dry_run' | 'approval_id';

type Governed = Pick<Tool, 'governanceArgs'>;

const governs = ({ governanceArgs }: Governed, name: GovernanceArg): boolean =>
  governanceArgs?.includes(name) === true;

export const asksForDryRun = (tool: Governed, args: JsonObject): boolean =>
  governs(tool, 'dry_run') && args.dry_run === true;

/** `dry_run: false` means the same as leaving it out, and must have the same digest. */
export function withoutFalseDryRun(tool: Governed, args: JsonObject): JsonObject {
  if (!governs(tool, 'dry_run') || args.dry_run !== false) return args;
  const { dry_run: _, ...rest } = args;
  return rest;
}

/** What a permit covers: the call, but not the permit's own ID nor whether it was tried dry first. */
export const permittedArgs = (tool: Governed, args: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([name]) => !governs(tool, name as GovernanceArg)));

/**
 * What a tool does to the world. `propose` files a suggestion and `decide` is a person's decision:
 * neither is routed to approval nor counted by the hourly limit.
 */
const EFFECTS = ['read', 'change', 'destroy', 'propose', 'decide'] as const;
export type Effect = (typeof EFFECTS)[number];

/** Types do not bind what a server, a stored row or a plugin supplies. */
export const isEffect = (effect: unknown): effect is Effect =>
  (EFFECTS as readonly unknown[]).includes(effect);

export type Reach = 'local' | 'network';

/** Changes are what policy evaluates, limits count and intents precede. */
export const isChange = (effect: Effect): boolean => effect === 'change' || effect === 'destroy';

/** Anything that writes is kept out of read-only profiles. */
export const isReadOnly = (effect: Effect): boolean => effect === 'read';

export const PROFILES = ['readonly', 'api-readonly', 'write', 'admin'] as const;
export type Profile = (typeof PROFILES)[number];

export const READ_PROFILES: readonly Profile[] = [...PROFILES];
export const CHANGE_PROFILES: readonly Profile[] = ['write', 'admin'];
