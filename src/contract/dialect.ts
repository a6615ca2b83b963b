import type { JsonObject, JsonSchema } from './json.ts';
import type { ContentPart, Outcome } from './outcome.ts';
import type { Tool } from './tool.ts';

/** A finished call as the renderers see it, whichever transport it came by. */
export interface Finished {
  readonly tool: Tool;
  readonly dialect: Dialect;
  readonly callId: string;
  readonly outcome: Outcome;
  readonly evidenceHash: string | undefined;
  readonly elapsedMs: number;
  readonly runId: string | undefined;
  readonly args: unknown;
  readonly dryRun: boolean;
}

/** Operating mode as the x envelope reports it. */
export interface Modes {
  readonly mode: string;
  readonly approvalMode: boolean;
}

/** How one toolkit's document shapes a reply. */
export interface Dialect {
  /** Shows notes of a call in its own envelope; otherwise they go to `_meta`. */
  readonly showsNotes?: boolean;
  /** Leaves the hint of an error out of its envelope, so the command line prints it. */
  readonly omitsHints?: boolean;
  /** The result as another server gave it; undefined when that server gave none, and the reply is made here. */
  passOn?(finished: Finished): JsonObject | undefined;
  /** The documented envelope. */
  body(finished: Finished, modes: Modes): JsonObject;
  /** Text next to the structured body; by default the body as JSON. */
  text?(finished: Finished, body: JsonObject): string;
  /** More content parts than the text. */
  parts?(finished: Finished): readonly ContentPart[];
  /** Fields that a result over TCP has directly, for clients that read no content parts. */
  direct?(body: JsonObject, finished: Finished): JsonObject;
  isError(outcome: Outcome): boolean;
  /** The schema of a reply, given that of a successful call's data. */
  outputSchema(tool: Tool): JsonSchema;
}

/** Definitions must stand at the root of the schema that refers to them. */
export function embed(schema: JsonSchema): { readonly inner: JsonSchema; readonly defs: JsonSchema } {
  const { $schema: _version, $defs, ...inner } = schema;
  return { inner, defs: $defs === undefined ? {} : { $defs } };
}

export const failedStatuses: ReadonlySet<Outcome['status']> = new Set(['refused', 'failed', 'indeterminate']);
