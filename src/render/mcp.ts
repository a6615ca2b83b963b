import { isChange } from '../contract/effect.ts';
import type { JsonObject, JsonSchema } from '../contract/json.ts';
import type { ContentPart } from '../contract/outcome.ts';
import type { Tool } from '../contract/tool.ts';
import type { Dialect } from '../contract/toolkit.ts';
import type { Finished, Modes } from './dialect.ts';
import { dialects } from './dialects/index.ts';

/** A tool result of the protocol, without depending on any SDK's types. */
export interface McpResult {
  content: McpContent[];
  structuredContent: JsonObject;
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
  const dialect = dialects[finished.dialect];
  const body = dialect.body(finished, modes);
  const text = dialect.text?.(finished, body) ?? JSON.stringify(body);
  const parts = dialect.parts?.(finished) ?? [];
  return {
    // A tool that lays out its own content says so by starting with a text part.
    content:
      parts[0]?.type === 'text' ? parts.map(toContent) : [{ type: 'text', text }, ...parts.map(toContent)],
    structuredContent: body,
    isError: dialect.isError(finished.outcome),
    _meta: {
      // The enveloped dialects show notes in their own meta; plain content has no other place for them.
      ...(finished.dialect === 'plain' && finished.outcome.status === 'ok' ? finished.outcome.notes : {}),
      'countersign/call_id': finished.callId,
      ...(finished.evidenceHash ? { 'countersign/evidence_hash': finished.evidenceHash } : {}),
      ...('replayed' in finished.outcome && finished.outcome.replayed
        ? { 'countersign/replayed': true }
        : {}),
    },
  };
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
export function toMcpListing(tool: Tool, dialect: Dialect): McpListing {
  const { title, effect, reach } = tool;
  const { $schema: _version, ...inputSchema } = tool.input.json;
  return {
    name: tool.name,
    title,
    description: tool.summary,
    inputSchema,
    outputSchema: dialects[dialect].outputSchema(tool),
    annotations: {
      title,
      readOnlyHint: effect === 'read',
      destructiveHint: isChange(effect),
      idempotentHint: effect === 'read',
      openWorldHint: reach === 'network',
    },
  };
}
