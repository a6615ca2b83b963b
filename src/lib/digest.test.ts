import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digest } from './canonical.ts';

describe('digest', () => {
  it('is SHA-256 over the canonical form of tool and arguments', () => {
    const expected = createHash('sha256').update('{"args":{"a":1,"b":"x"},"tool":"post"}').digest('hex');
    expect(digest('post', { b: 'x', a: 1 })).toBe(expected);
  });

  it('does not depend on the order of names', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
        const turned = Object.fromEntries(Object.entries(args).reverse());
        expect(digest('t', turned)).toBe(digest('t', args));
      }),
    );
  });

  it('differs when the tool, an argument or what a permit is bound to differs', () => {
    const all = [
      digest('t', { a: 1 }),
      digest('u', { a: 1 }),
      digest('t', { a: 2 }),
      digest('t', { a: '1' }),
      digest('t', { a: 1 }, { base: 'c0ffee' }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});
