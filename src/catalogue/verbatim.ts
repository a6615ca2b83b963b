import type { Dialect } from '../contract/dialect.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Tool } from '../contract/tool.ts';
import { isObject } from '../lib/is-object.ts';
import { plain } from './dialect.ts';
import type { McpListing } from './mcp.ts';

/** A third-party server's results as it gave them. What never reached the server is worded as plain content. */
export const verbatim: Dialect = {
  ...plain,
  passOn({ outcome }) {
    const data = outcome.status === 'ok' || outcome.status === 'failed' ? outcome.data : undefined;
    return isObject(data) ? (data as JsonObject) : undefined;
  },
  outputSchema: (tool) => tool.output.json,
};

/** The pinned definition; only the name and a hint that contradicts the confirmed effect differ. */
export function listVerbatim(tool: Tool, definition: JsonObject): McpListing {
  const hints = isObject(definition.annotations) ? definition.annotations : undefined;
  const contradicted = tool.effect !== 'read' && hints?.readOnlyHint === true;
  return {
    ...definition,
    name: tool.name,
    ...(contradicted ? { annotations: { ...hints, readOnlyHint: false } } : {}),
  } as unknown as McpListing;
}
