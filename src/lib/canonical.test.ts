import serialize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CanonicalError, canonicalJson } from './canonical.ts';

describe('canonicalJson', () => {
  it('writes the example of RFC 8785 section 3.2.2 as the RFC does', () => {
    const value = JSON.parse(
      String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
    );
    expect(canonicalJson(value)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sorts names by UTF-16 units as RFC 8785 section 3.2.3 does', () => {
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 };
    expect(Object.values(JSON.parse(canonicalJson(value)) as object)).toHaveLength(7);
    expect([...canonicalJson(value).matchAll(/:(\d)/g)].map(([, digit]) => digit).join('')).toBe('2467153');
  });

  it('writes any data byte for byte as the reference library does', () => {
    const data = fc.anything({
      maxDepth: 5,
      key: fc.string({ unit: 'grapheme-composite' }),
      values: [
        fc.boolean(),
        fc.constant(null),
        fc.constant(undefined),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        fc.string({ unit: 'grapheme' }),
        fc.date({ noInvalidDate: true }),
      ],
    });
    fc.assert(
      fc.property(data, (value) => {
        if (value !== undefined) expect(canonicalJson(value)).toBe(serialize(value));
      }),
      { numRuns: 500 },
    );
  });

  it('writes names that are digits, empty or negative zero as the reference library does', () => {
    const value = { 10: 1, 9: -0, '': [], a: {}, A: [undefined, null], __proto: 1e21 };
    expect(canonicalJson(value)).toBe(serialize(value));
  });

  it('leaves out what is undefined and keeps a field named __proto__', () => {
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
    expect(canonicalJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
    expect(canonicalJson(JSON.parse('{"a":0,"__proto__":{"c":1,"b":2}}'))).toBe(
      '{"__proto__":{"b":2,"c":1},"a":0}',
    );
    expect(canonicalJson(JSON.parse('{"__proto__":{"c":1,"b":2},"a":0}'))).toBe(
      '{"__proto__":{"b":2,"c":1},"a":0}',
    );
  });

  it.each([
    ['half a surrogate pair', { text: ['ok', '\ud800'] }, /^text\[1\] contains half of a surrogate pair/],
    [
      'a name with half a surrogate pair',
      { a: { '\udc00': 1 } },
      /^a has a name with half of a surrogate pair/,
    ],
    ['NaN', { a: { b: Number.NaN } }, /^a\.b is NaN/],
    ['infinity', [1, Number.POSITIVE_INFINITY], /^\[1\] is Infinity/],
    ['a bigint', { n: 1n }, /^n is a bigint/],
    ['undefined', undefined, /^The value is undefined/],
  ])('refuses %s and says where it is', (_name, value, message) => {
    expect(() => canonicalJson(value)).toThrow(CanonicalError);
    expect(() => canonicalJson(value)).toThrow(message);
  });

  it('refuses a value that contains itself', () => {
    const loop: Record<string, unknown> = {};
    loop.inner = { loop };
    expect(() => canonicalJson(loop)).toThrow(/^inner\.loop contains itself/);
  });

  it('refuses nesting that no stack can hold instead of crashing', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    expect(() => canonicalJson(deep)).toThrow(/nested too deeply/);
  });
});
