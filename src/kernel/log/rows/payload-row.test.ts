import { describe, expect, it } from 'vitest';
import { sealPayload } from '../log.ts';
import { checkPayload } from './payload-row.ts';

const AT = '2026-01-01T00:00:00.000Z';

describe('a stored payload', () => {
  it('is verified, not kept or erased, as its entry allows', () => {
    const [kept, unkept] = [sealPayload({ text: 'hi' }), sealPayload({ text: 'hi' }, { keep: false })];
    const row = { at: AT, erased_at: null };
    const judge = (sealed: typeof kept, more: object = {}) =>
      checkPayload({ hash: sealed.hash, at: AT }, { ...sealed, ...row, ...more });
    expect(judge(kept)).toEqual({ state: 'verified' });
    expect(judge(unkept)).toEqual({ state: 'unkept' });
    expect(judge(kept, { body: null, salt: '', erased_at: AT })).toEqual({ state: 'erased' });
  });
});
