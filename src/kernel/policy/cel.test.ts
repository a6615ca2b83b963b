import { Environment } from '@marcbachmann/cel-js';
import { describe, expect, it } from 'vitest';
import { celType, fieldsAt, findAccesses, integerReader, isAlwaysThere, mergeTypes } from './cel.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});

describe('what an expression reads of the arguments', () => {
  const environment = new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true });
  /** `path` where it must be there, `path?` where the expression made sure. */
  const reads = (expression: string) =>
    findAccesses(environment.parse(expression).ast)
      .map(({ path, guarded }) => `${path.join('.')}${guarded ? '?' : ''}`)
      .sort();

  it.each([
    ['tool.name == "args"', []],
    ['args.a == 1', ['a']],
    ['args["a"] == 1', ['a']],
    ['args.a.b == 1', ['a', 'a.b']],
    ['other.a == 1', []],
    ['args[tool.name] == 1', []],
    ['args[args.a] == 1', ['a']],
    ['args[0] == 1', []],
    ['args[other] == 1', []],
    ['[args.a][0] == 1', ['a']],
    ['bool(args.a) && args.a == "x"', ['a', 'a']],
    ['has(other.a) && args.a == 1', ['a']],
    ['tool[args.a] == 1', ['a']],
    ['args.?a.hasValue()', ['a?']],
    ['args[?"a"].hasValue()', ['a?']],
    ['has(args.a)', ['a?']],
    ['has(args.a.b)', ['a', 'a.b?']],
    ['has(other.a)', []],
    ['has(args.a) && args.a == 1', ['a?', 'a?']],
    ['args.a == 1 && has(args.a)', ['a', 'a?']],
    ['has(args.a) || args.a == 1', ['a', 'a?']],
    ['!has(args.a) || args.a == 1', ['a?', 'a?']],
    ['!has(args.a) && args.a == 1', ['a', 'a?']],
    ['!(!has(args.a)) && args.a == 1', ['a?', 'a?']],
    ['(has(args.a) && has(args.b)) && args.a + args.b == 1', ['a?', 'a?', 'b?', 'b?']],
    ['!(has(args.a) && has(args.b)) || args.a + args.b == 1', ['a?', 'a?', 'b?', 'b?']],
    ['(has(args.a) || has(args.b)) && args.a == 1', ['a', 'a?', 'b?']],
    ['(!has(args.a) || !has(args.b)) || args.a == args.b', ['a?', 'a?', 'b?', 'b?']],
    ['has(args.a) ? args.a == 1 : args.b == 1', ['a?', 'a?', 'b']],
    ['has(args.a) ? true : args.a == 1', ['a', 'a?']],
    ['!has(args.a) ? true : args.a == 1', ['a?', 'a?']],
    ['!has(args.a) ? args.a == 1 : true', ['a', 'a?']],
    ['size(args.a) == 1 && args.a == 2', ['a', 'a']],
    ['args.a.contains(args.b)', ['a', 'b']],
    ['args.a.exists(x, x == args.b)', ['a', 'b']],
    ['[args.a, 1].size() == 2', ['a']],
    ['{args.a: args.b}.size() == 1', ['a', 'b']],
    ['-args.a == 1', ['a']],
    ['args.a in [1]', ['a']],
  ])('%s: %j', (expression, expected) => {
    expect(reads(expression)).toEqual(expected);
  });

  it('is placed where its name begins', () => {
    const expression = 'true && args.some.name == 1 && has(args.other)';
    const found = findAccesses(environment.parse(expression).ast);
    const places = found.map(({ path, position }) =>
      expression.slice(position).startsWith(path.at(-1) ?? 'nothing'),
    );
    expect(places).toEqual([true, true, true]);
  });
});

describe('the type of a schema', () => {
  it.each([
    [text, 'string'],
    [integer, 'int'],
    [{ type: 'number' }, 'double'],
    [{ type: 'boolean' }, 'bool'],
    [{ type: 'array', items: text }, 'list<string>'],
    [{ type: 'array', items: { type: 'array', items: integer } }, 'list<list<int>>'],
    [{ type: 'array', items: object({ a: text }) }, 'list<dyn>'],
    [{ type: 'array' }, 'list<dyn>'],
    [{ type: 'object' }, 'map<string, dyn>'],
    [{ type: ['string', 'null'] }, 'dyn'],
    [true, 'dyn'],
    [undefined, 'dyn'],
    [object({ a: text, b: object({ c: integer }) }), { a: 'string', b: { c: 'int' } }],
  ])('%j is %j', (schema, type) => {
    expect(celType(schema)).toEqual(type);
  });

  it('has only the outermost fields that are asked for', () => {
    const schema = object({ a: object({ b: text, c: text }), b: text });
    expect(celType(schema, new Set(['a']))).toEqual({ a: { b: 'string', c: 'string' } });
  });

  it('of several tools is open where they differ', () => {
    expect(mergeTypes('int', 'int')).toBe('int');
    expect(mergeTypes('int', 'string')).toBe('dyn');
    expect(mergeTypes('int', { a: 'int' })).toBe('dyn');
    expect(mergeTypes({ a: 'int' }, 'int')).toBe('dyn');
    expect(
      mergeTypes({ a: 'int', b: 'int', n: { x: 'int' } }, { b: 'string', c: 'bool', n: { y: 'int' } }),
    ).toEqual({ a: 'int', b: 'dyn', c: 'bool', n: { x: 'int', y: 'int' } });
  });

  it('knows the fields at a path, unless it is open there', () => {
    const type = { a: { b: { c: 'int' } }, d: 'dyn' };
    expect(fieldsAt(type, [])).toEqual(['a', 'd']);
    expect(fieldsAt(type, ['a', 'b'])).toEqual(['c']);
    for (const open of [
      ['d'],
      ['d', 'e'],
      ['no'],
      ['no', 'e'],
      ['a', 'b', 'c'],
      ['constructor'],
      ['toString', 'a'],
    ])
      expect(fieldsAt(type, open)).toBeUndefined();
    expect(fieldsAt('dyn', [])).toBeUndefined();
    expect(fieldsAt('dyn', ['length'])).toBeUndefined();
  });
});

describe('an argument that is always there', () => {
  const schema = object(
    {
      must: text,
      may: text,
      filled: { type: 'integer', default: 7 },
      inner: object({ must: text, may: text }, ['must']),
      open: { type: 'object' },
    },
    ['must', 'unlisted'],
  );
  it.each([
    [[], true],
    [['must'], true],
    [['may'], false],
    [['filled'], true],
    [['inner', 'must'], true],
    [['inner', 'may'], false],
    [['open', 'any'], false],
    [['none'], false],
    [['none', 'any'], true],
    [['unlisted'], false],
    [['constructor'], false],
    [['constructor', 'name'], true],
  ] as const)('%j: %s', (path, there) => {
    expect(isAlwaysThere(schema, path)).toBe(there);
  });

  it('is none of a schema that says nothing', () => {
    expect(isAlwaysThere(undefined, ['a'])).toBe(false);
    expect(isAlwaysThere({ properties: { a: text } }, ['a'])).toBe(false);
    expect(isAlwaysThere({ properties: { a: true }, required: ['a'] }, ['a'])).toBe(false);
    expect(isAlwaysThere({ properties: { a: text }, required: 'a' }, ['a'])).toBe(false);
  });
});

describe('integers for an expression', () => {
  it('are read wherever the schema has them, and nothing else is touched', () => {
    const schema = object({
      n: integer,
      list: { type: 'array', items: integer },
      inner: object({ n: integer, s: text }),
      rows: { type: 'array', items: object({ n: integer }) },
      s: text,
      d: { type: 'number' },
    });
    const read = integerReader(schema);
    const value = { n: 1, list: [2, 2.5], inner: { n: 3, s: '3' }, rows: [{ n: 4 }], s: '5', d: 6 };
    expect(read?.(value)).toEqual({
      n: 1n,
      list: [2n, 2.5],
      inner: { n: 3n, s: '3' },
      rows: [{ n: 4n }],
      s: '5',
      d: 6,
    });
    expect(value.n).toBe(1);
    expect(read?.({ s: 'a' })).toEqual({ s: 'a' });
    expect(Object.keys(read?.({ s: 'a' }) as object)).toEqual(['s']);
  });

  it('leave a value that is not what the schema says as it is', () => {
    const schema = object({
      n: integer,
      list: { type: 'array', items: integer },
      inner: object({ n: integer }),
    });
    const odd = { n: '1', list: 'none', inner: null };
    expect(integerReader(schema)?.(odd)).toEqual(odd);
    expect(integerReader(schema)?.({ n: null, list: [null], inner: [1] })).toEqual({
      n: null,
      list: [null],
      inner: [1],
    });
    for (const value of [null, 'text', 3, [1]]) expect(integerReader(schema)?.(value)).toEqual(value);
    expect(integerReader(schema)?.({ n: 1.5 })).toEqual({ n: 1.5 });
  });

  it.each([
    [text],
    [object({ s: text, d: { type: 'number' } })],
    [{ type: 'array', items: text }],
    [{ type: 'array' }],
    [{ type: 'object' }],
    [{ type: 'string', properties: { n: integer } }],
    [undefined],
    [true],
  ])('are none in %j, which is then not copied', (schema) => {
    expect(integerReader(schema)).toBeUndefined();
  });
});
