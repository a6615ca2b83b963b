import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeMcpJson } from './mcp-json.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-mcp-json-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const read = () => JSON.parse(readFileSync(join(dir, '.mcp.json'), 'utf8'));

describe('.mcp.json', () => {
  it('is written with the key and address the document names, and only once', () => {
    expect(writeMcpJson(dir).changed).toBe(true);
    expect(read().mcpServers.qualcoder).toMatchObject({ type: 'http', url: 'http://localhost:8765/mcp' });
    expect(writeMcpJson(dir).changed).toBe(false);
    expect(readdirSync(dir)).toEqual(['.mcp.json']);
  });

  it('keeps every other entry', () => {
    writeFileSync(
      join(dir, '.mcp.json'),
      JSON.stringify({ mcpServers: { other: { command: 'x' } }, more: [1] }),
    );
    writeMcpJson(dir, 'http://localhost:9000/mcp');
    expect(read()).toEqual({
      mcpServers: {
        other: { command: 'x' },
        qualcoder: expect.objectContaining({ url: 'http://localhost:9000/mcp' }),
      },
      more: [1],
    });
  });

  it.each(['{', '[]', '{"mcpServers": 5}'])('is left alone when it holds %s', (text) => {
    writeFileSync(join(dir, '.mcp.json'), text);
    expect(() => writeMcpJson(dir)).toThrow(/not changed/);
    expect(readFileSync(join(dir, '.mcp.json'), 'utf8')).toBe(text);
  });
});
