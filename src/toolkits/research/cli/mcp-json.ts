import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { isObject } from '../../../lib/is-object.ts';

const FILE = '.mcp.json';
const DEFAULT_URL = 'http://localhost:8765/mcp';

/** Writes the entry by which agents find this server, as the document describes it; other entries stay as they are. */
export function writeMcpJson(
  folder: string,
  url = DEFAULT_URL,
): { readonly path: string; readonly changed: boolean } {
  const path = join(folder, FILE);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const config = text.trim() ? parse(text, path) : {};
  const servers = config.mcpServers ?? {};
  if (typeof servers !== 'object' || servers === null || Array.isArray(servers)) {
    throw new ToolError(
      'conflict',
      `${path} has an "mcpServers" that is not an object; the file was not changed.`,
    );
  }
  const entry: JsonObject = {
    type: 'http',
    url,
    description: 'QualCoder project through Countersign: agents propose, the researcher decides',
  };
  const next = `${JSON.stringify({ ...config, mcpServers: { ...servers, qualcoder: entry } }, null, 2)}\n`;
  if (next === text) return { path, changed: false };
  const draft = `${path}.${process.pid}.partial`;
  writeFileSync(draft, next);
  renameSync(draft, path);
  return { path, changed: true };
}

function parse(text: string, path: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    if (isObject<JsonValue>(value)) return value;
  } catch (error) {
    throw new ToolError('conflict', `${path} is not valid JSON; it was not changed.`, { cause: error });
  }
  throw new ToolError('conflict', `${path} does not contain a JSON object; it was not changed.`);
}
