import { describe, expect, it } from 'vitest';
import { paramHeaders } from './param-headers.ts';

const schema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    deep: { type: 'object', properties: { dry: { type: 'boolean', 'x-mcp-header': 'Dry' } } },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    bad: { type: 'string', 'x-mcp-header': 'no spaces' },
    other: { type: 'string' },
  },
};

describe('paramHeaders', () => {
  it('repeats marked arguments at any depth and no others', () => {
    const args = { region: 'eu-1', deep: { dry: false }, count: 3, bad: 'x', other: 'y' };
    expect(paramHeaders(schema, args)).toEqual({
      'Mcp-Param-Region': 'eu-1',
      'Mcp-Param-Dry': 'false',
      'Mcp-Param-Count': '3',
    });
    expect(paramHeaders(schema, { other: 'y', region: null })).toBeUndefined();
  });

  it.each(['Zürich', ' padded ', '', 'two\nlines', '=?base64?eA==?='])('encodes %j', (region) => {
    const header = paramHeaders(schema, { region })?.['Mcp-Param-Region'] ?? '';
    const [, encoded = ''] = /^=\?base64\?(.*)\?=$/.exec(header) ?? [];
    expect(Buffer.from(encoded, 'base64').toString('utf8')).toBe(region);
  });
});
