import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fitsUnkept, payloadHash, sealPayload, wasKept } from './log.ts';

describe('sealPayload', () => {
  it('hashes salt and canonical body, so that the same value is never recognised by its hash', () => {
    const one = sealPayload({ b: 1, a: 2 });
    const two = sealPayload({ a: 2, b: 1 });
    expect(one.body).toBe('{"a":2,"b":1}');
    expect(two.body).toBe(one.body);
    expect(two.hash).not.toBe(one.hash);
    expect(one.hash).toBe(
      `sha256:${createHash('sha256')
        .update(one.salt + one.body)
        .digest('hex')}`,
    );
  });

  it('marks in the hash that the body was not kept, and still lets anyone with the value prove it', () => {
    const sealed = sealPayload({ a: 1 }, { keep: false });
    expect(sealed.body).toBeNull();
    expect(wasKept(sealed.hash)).toBe(false);
    expect(fitsUnkept(sealed.hash, sealed.salt)).toBe(true);
    expect(fitsUnkept(sealed.hash, `${sealed.salt}0`)).toBe(false);
    expect(sealed.hash.endsWith(payloadHash(`${sealed.salt}{"a":1}`))).toBe(true);
  });

  it('does not keep what is larger than allowed', () => {
    expect(sealPayload('12345678', { maxKept: 10 }).body).toBe('"12345678"');
    expect(sealPayload('123456789', { maxKept: 10 }).body).toBeNull();
  });
});
