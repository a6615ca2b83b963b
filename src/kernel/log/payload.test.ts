import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { prepareEntry } from './entry.ts';
import { fits, fitsUnkept, payloadHash, payloadRow, sealPayload, wasKept } from './log.ts';

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
    expect(sealed.hash).toMatch(/^unkept:[0-9a-f]{16}:sha256:[0-9a-f]{64}$/);
    expect(wasKept(sealed.hash)).toBe(false);
    expect(fitsUnkept(sealed.hash, sealed.salt)).toBe(true);
    expect(fitsUnkept(sealed.hash, `${sealed.salt}0`)).toBe(false);
    expect(sealed.hash.endsWith(payloadHash(`${sealed.salt}{"a":1}`))).toBe(true);
  });

  it('does not keep what is larger than allowed', () => {
    expect(sealPayload('12345678', { maxKept: 10 }).body).toBe('"12345678"');
    expect(sealPayload('123456789', { maxKept: 10 }).body).toBeNull();
  });

  it('fits its salt and body alone, and without its body only when none was kept', () => {
    const kept = sealPayload({ a: 1 });
    expect(wasKept(kept.hash)).toBe(true);
    expect(fits(kept.hash, kept.salt + kept.body)).toBe(true);
    expect(fits(kept.hash, kept.salt)).toBe(false);
    expect(fits(kept.hash, `${kept.salt}{"a":2}`)).toBe(false);
    const unkept = sealPayload({ a: 1 }, { keep: false });
    expect(fits(unkept.hash, unkept.salt)).toBe(true);
    expect(fits(unkept.hash, kept.salt)).toBe(false);
  });

  it('is stored under the call and the time of its entry', () => {
    const sealed = sealPayload({ a: 1 });
    const entry = prepareEntry({ kind: 'read', at: 'now', call: 'c' });
    expect(payloadRow(entry, 'args', sealed)).toEqual({
      call_id: 'c',
      kind: 'args',
      ...sealed,
      at: 'now',
      erased_at: null,
    });
  });
});
