import { describe, expect, it } from 'vitest';
import { uuidv7 } from './random.ts';

describe('uuidv7', () => {
  it('has the time, the version and the variant where RFC 9562 puts them', () => {
    const id = uuidv7(0x0123456789ab);
    expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('sorts in the order of making within one millisecond', () => {
    const ids = Array.from({ length: 1000 }, () => uuidv7(1_700_000_000_000));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(1000);
  });

  it('sorts by time across milliseconds', () => {
    expect(uuidv7(1_700_000_000_000) < uuidv7(1_700_000_000_001)).toBe(true);
  });
});
