import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject } from '../../../contract/json.ts';

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
    throw new ToolFault(
      'conflict',
      `${path} has an "mcpServers" that is not an object; it was left as it is.`,
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
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch (error) {
    throw new ToolFault('conflict', `${path} is not valid JSON; it was left as it is.`, { cause: error });
  }
  throw new ToolFault('conflict', `${path} does not hold a JSON object; it was left as it is.`);
}
