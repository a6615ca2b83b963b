import { describe, expect, it } from 'vitest';
import { jsonSchema, undeclared } from './schema.ts';

const file = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1 },
    edits: {
      type: 'array',
      items: { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] },
    },
    mode: { enum: ['append', 'replace'] },
  },
  required: ['path'],
  additionalProperties: false,
};

describe('jsonSchema', () => {
  it('keeps the schema as the very object it was given', () => {
    expect(jsonSchema(file).json).toBe(file);
  });

  it('passes arguments on unchanged, also those a schema does not declare but allows', () => {
    const open = jsonSchema({ type: 'object', properties: { a: { type: 'number', default: 3 } } });
    expect(open.parse({ b: { c: [1] } })).toEqual({ ok: true, value: { b: { c: [1] } } });
    expect(undeclared(open.json, { a: 1, b: 2 })).toEqual(['b']);
  });

  it.each([
    [{}, 'path', 'is missing'],
    [{ path: 'a', more: 1 }, 'more', 'is not a known argument'],
    [{ path: 'a', edits: [{ line: 1 }, {}] }, 'edits[1].line', 'is missing'],
    [{ path: 'a', edits: [{ line: 1.5 }] }, 'edits[0].line', 'type "number" is invalid. Expected "integer"'],
  ])('says where %j is wrong', (value, path, message) => {
    const parsed = jsonSchema(file).parse(value);
    expect(parsed).toMatchObject({ ok: false, issues: [{ path, message }] });
  });

  it('refuses what is not an object before it looks at the schema', () => {
    for (const value of [null, [], 'text', 1]) expect(jsonSchema(true as never).parse(value).ok).toBe(false);
  });

  it('leaves patterns to the server, so that one of them cannot stop this process', () => {
    const bomb = jsonSchema({ type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } });
    expect(bomb.parse({ a: `${'a'.repeat(60)}!` }).ok).toBe(true);
    const names = jsonSchema({
      type: 'object',
      patternProperties: { '^(x+)+$': {} },
      additionalProperties: false,
    });
    expect(names.parse({ [`${'x'.repeat(60)}!`]: 1 }).ok).toBe(true);
  });

  it('still checks a property that is called pattern or format', () => {
    const search = jsonSchema({
      type: 'object',
      properties: { pattern: { type: 'string' }, format: { type: 'integer' } },
      required: ['pattern'],
    });
    expect(search.parse({ pattern: 'x', format: 1 }).ok).toBe(true);
    expect(search.parse({ pattern: 1 }).ok).toBe(false);
    expect(search.parse({ pattern: 'x', format: 'y' }).ok).toBe(false);
  });

  it('refuses every call of a tool whose references do not resolve or never end', () => {
    for (const properties of [
      { a: { $ref: '#/$defs/none' } },
      { a: { $ref: 'https://example.org/s.json' } },
    ]) {
      const parsed = jsonSchema({ type: 'object', properties }).parse({ a: 1 });
      expect(parsed).toMatchObject({
        ok: false,
        issues: [{ message: expect.stringContaining('reference') }],
      });
    }
    expect(jsonSchema({ $ref: '#' }).parse({ a: 1 }).ok).toBe(false);
  });

  it.each([
    ['not', { not: { pattern: '^x' } }, 'ab'],
    ['oneOf', { oneOf: [{ pattern: '^a' }, { pattern: '^b' }] }, 'ab'],
    ['oneOf of formats', { oneOf: [{ format: 'date' }, { format: 'date-time' }] }, '2026-01-01'],
    ['if', JSON.parse('{"if":{"pattern":"^x"},"then":{"minLength":9}}'), 'ab'],
    ['a reference', { not: { $ref: '#/$defs/hidden' } }, 'ab'],
  ])('leaves a pattern inside %s to the server', (_name, text, value) => {
    const $defs = { hidden: { pattern: '^x' } };
    const schema = jsonSchema({ type: 'object', properties: { t: { type: 'string', ...text } }, $defs });
    expect(schema.parse({ t: value })).toMatchObject({ ok: true });
    expect(schema.parse({ t: 7 })).toMatchObject({ ok: false });
  });

  it('still checks that one alternative matches where their patterns are left to the server', () => {
    const t = {
      oneOf: [
        { type: 'string', pattern: '^a' },
        { type: 'integer', minimum: 3 },
      ],
    };
    const schema = jsonSchema({ type: 'object', properties: { t } });
    expect(schema.parse({ t: 'b' })).toMatchObject({ ok: true });
    expect(schema.parse({ t: 1 })).toMatchObject({ ok: false });
  });

  it('refuses to evaluate a schema whose references double at each step', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => {
        const next = { $ref: `#/$defs/a${n + 1}` };
        return [`a${n}`, n === 39 ? { type: 'string' } : { allOf: [next, next] }];
      }),
    );
    const schema = jsonSchema({ type: 'object', properties: { t: { $ref: '#/$defs/a0' } }, $defs });
    expect(schema.parse({ t: 'x' })).toMatchObject({
      ok: false,
      issues: [{ message: expect.stringContaining('takes too long') }],
    });
    expect(schema.parse({})).toMatchObject({ ok: true });
  });

  it('refuses lists that are too long to be compared item by item', () => {
    const schema = jsonSchema({ type: 'object', properties: { t: { type: 'array', uniqueItems: true } } });
    const items = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
    expect(schema.parse({ t: items(3_000) })).toMatchObject({ ok: true });
    expect(schema.parse({ t: items(3_001) })).toMatchObject({ ok: false });
  });
});
