import { readFileSync } from 'node:fs';
import type { Dialect, Finished, Modes } from '../contract/dialect.ts';
import type { JsonObject, JsonSchema } from '../contract/json.ts';
import type { ContentPart } from '../contract/outcome.ts';
import { isChange, type Tool } from '../contract/tool.ts';
import { plain } from './dialect.ts';
import { listVerbatim } from './verbatim.ts';

/** A tool result of the protocol, without depending on any SDK's types. */
export interface McpResult {
  content: McpContent[];
  structuredContent?: JsonObject;
  isError: boolean;
  _meta: JsonObject;
}

export type McpContent =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'audio'; data: string; mimeType: string }
  | {
      type: 'resource';
      resource:
        | { uri: string; mimeType: string; text: string }
        | { uri: string; mimeType: string; blob: string };
    };

/** The only place that knows what a call result looks like on the wire. */
export function toMcpResult(finished: Finished, modes: Modes): McpResult {
  const { dialect } = finished;
  const meta = metaOf(finished);
  const passed = dialect.passOn?.(finished);
  if (passed) return { ...passed, _meta: { ...(passed._meta as JsonObject | undefined), ...meta } } as never;
  const body = dialect.body(finished, modes);
  const text = dialect.text?.(finished, body) ?? JSON.stringify(body);
  const parts = dialect.parts?.(finished) ?? [];
  const result: McpResult = {
    // A tool that lays out its own content says so by starting with a text part.
    content:
      parts[0]?.type === 'text' ? parts.map(toContent) : [{ type: 'text', text }, ...parts.map(toContent)],
    structuredContent: body,
    isError: dialect.isError(finished.outcome),
    _meta: meta,
  };
  // A client checks replies against the tool's own output schema unless they are errors.
  if (finished.tool.definition?.outputSchema === undefined) return result;
  const { structuredContent: _, ...rest } = result;
  return { ...rest, isError: true };
}

function metaOf({ dialect, outcome, callId, evidenceHash }: Finished): JsonObject {
  return {
    // The enveloped dialects show notes in their own meta; plain content has no other place for them.
    ...(!dialect.showsNotes && 'notes' in outcome ? outcome.notes : {}),
    'countersign/call_id': callId,
    ...(evidenceHash ? { 'countersign/evidence_hash': evidenceHash } : {}),
    ...('replayed' in outcome && outcome.replayed ? { 'countersign/replayed': true } : {}),
  };
}

/** The same for a client that speaks the dialect's own wire form. */
export function toDirectResult(finished: Finished, modes: Modes): McpResult {
  const result = toMcpResult(finished, modes);
  const direct = finished.dialect.direct?.(result.structuredContent ?? {}, finished) ?? {};
  return { ...direct, ...result };
}

function toContent(part: ContentPart): McpContent {
  if (part.type !== 'resource') return part;
  const { uri, mimeType } = part;
  return {
    type: 'resource',
    resource:
      part.blob === undefined ? { uri, mimeType, text: part.text ?? '' } : { uri, mimeType, blob: part.blob },
  };
}

export interface McpListing {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  annotations: {
    title: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

/** How a client sees a tool. Everything about its effect is derived from the one word the tool states. */
export function toMcpListing(tool: Tool, dialect: Dialect = plain): McpListing {
  if (tool.definition) return listVerbatim(tool, tool.definition);
  const { title, effect, reach } = tool;
  const { $schema: _version, ...inputSchema } = tool.input.json;
  return {
    name: tool.name,
    title,
    description: tool.summary,
    inputSchema,
    outputSchema: dialect.outputSchema(tool),
    annotations: {
      title,
      readOnlyHint: effect === 'read',
      destructiveHint: isChange(effect),
      idempotentHint: effect === 'read',
      openWorldHint: reach === 'network',
    },
  };
}

/** The bundler puts this module into a chunk next to or below the file. */
const PLACES = ['../listings.json', './listings.json'];

let known: ReadonlyMap<string, McpListing> | undefined;

/**
 * How the product's tools are listed, written when it was built: making it from the schemas is a good part of a cold
 * start. Empty when the program runs from its sources.
 */
export function builtListings(): ReadonlyMap<string, McpListing> {
  known ??= new Map(PLACES.flatMap(read).map((listing) => [listing.name, listing]));
  return known;
}

function read(place: string): McpListing[] {
  try {
    return JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as McpListing[];
  } catch {
    return [];
  }
}
