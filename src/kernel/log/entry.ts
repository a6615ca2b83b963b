import type { JsonObject } from '../../contract/json.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import { leafHash } from '../../lib/merkle.ts';

/** `outcome` answers an `intent`; `call` is a finished call that needed none (a proposal, a decision, a replay). */
export const ENTRY_KINDS = [
  'intent',
  'outcome',
  'read',
  'call',
  'refusal',
  'routed',
  'dry_run',
  'approval',
  'edit',
  'config',
  'checkpoint-key',
  'settled',
  'erasure',
  'passkey',
  'signature',
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** The approval a call ran under, or the one a decision is about. */
export interface EntryApproval {
  readonly uuid: string;
  readonly digest: string;
  /** Who decided, as `principalName` writes it. */
  readonly approver?: string;
  /** On a decision: whose call it is. Only a person decides about their own. */
  readonly requester?: string;
  /** A permit's digest covers more and less than the call's own, so the two are not compared. */
  readonly permit?: boolean;
}

/** Given whole, the log also proves what an artifact was called and taken for. */
export type EntryArtifact =
  | string
  | { readonly id: string; readonly name: string; readonly mediaType: string; readonly size: number };

/** What an entry says. Arguments and results are only here as payload hashes; fields without a value are left out. */
export interface EntryInput {
  readonly kind: EntryKind;
  /** ISO-8601. */
  readonly at: string;
  readonly call?: string;
  readonly parent?: string;
  readonly run?: string;
  readonly tool?: string;
  readonly toolkit?: string;
  readonly effect?: string;
  readonly principal?: string;
  readonly client?: string;
  readonly transport?: string;
  readonly digest?: string;
  readonly status?: string;
  readonly code?: string;
  readonly decision?: string;
  readonly rule?: string;
  readonly policyVersion?: string;
  readonly approval?: EntryApproval;
  readonly replayOf?: string;
  readonly artifacts?: readonly EntryArtifact[];
  readonly args?: string;
  readonly result?: string;
  readonly extra?: JsonObject;
}

/** An entry as its body reads back. */
export interface Entry extends EntryInput {
  readonly v: 1;
}

export interface PreparedEntry {
  /** The RFC 6962 leaf hash in hex: a call's `evidence_hash`, known before anything is written. */
  readonly hash: string;
  readonly body: string;
  readonly kind: EntryKind;
  readonly at: string;
  readonly call: string | undefined;
  readonly run: string | undefined;
}

/** The position in the log is not part of the body, so the hash is known before the entry has one. */
export function prepareEntry(entry: EntryInput): PreparedEntry {
  const body = canonicalJson(ordered(entry));
  return { hash: leafHash(body), body, kind: entry.kind, at: entry.at, call: entry.call, run: entry.run };
}

/** Field by field in the order the text has them, which spares sorting; the type asks for every one. */
const ordered = (
  entry: EntryInput,
): { readonly [Name in keyof Required<Entry>]: Entry[Name] | undefined } => ({
  approval: entry.approval,
  args: entry.args,
  artifacts: entry.artifacts?.map((one) =>
    typeof one === 'string' ? one : { id: one.id, mediaType: one.mediaType, name: one.name, size: one.size },
  ),
  at: entry.at,
  call: entry.call,
  client: entry.client,
  code: entry.code,
  decision: entry.decision,
  digest: entry.digest,
  effect: entry.effect,
  extra: entry.extra,
  kind: entry.kind,
  parent: entry.parent,
  policyVersion: entry.policyVersion,
  principal: entry.principal,
  replayOf: entry.replayOf,
  result: entry.result,
  rule: entry.rule,
  run: entry.run,
  status: entry.status,
  tool: entry.tool,
  toolkit: entry.toolkit,
  transport: entry.transport,
  v: 1,
});

export const artifactId = (artifact: EntryArtifact): string =>
  typeof artifact === 'string' ? artifact : artifact.id;

/** Undefined when the text is not an entry of this log format. */
export function readBody(body: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' &&
  value !== null &&
  'v' in value &&
  value.v === 1 &&
  'kind' in value &&
  typeof value.kind === 'string' &&
  'at' in value &&
  typeof value.at === 'string';
