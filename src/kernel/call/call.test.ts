import { describe, expect, it } from 'vitest';
import type { Approval } from '../../contract/ports.ts';
import { ownApproval } from './call.ts';
import { rawCall, toolNamed } from './steps.fixture.ts';

describe('the approval that a call uses up', () => {
  const [first, second] = [{ id: 1 } as Approval, { id: 2 } as Approval];
  const own = (grant: Approval | undefined, ofWhole?: { readonly grant: Approval | undefined }) => {
    const tool = toolNamed('ledger_write');
    const parent = ofWhole && Object.assign(rawCall(tool, {}), ofWhole);
    return ownApproval(Object.assign(rawCall(tool, {}, parent && { parent }), { grant }));
  };

  it('is the one that it runs under', () => {
    expect(own(first)).toBe(first);
    expect(own(undefined)).toBeUndefined();
    expect(own(first, { grant: undefined })).toBe(first);
  });

  it('is not that of the whole, but one of its own where more people had to sign', () => {
    expect(own(first, { grant: first })).toBeUndefined();
    expect(own(second, { grant: first })).toBe(second);
    expect(own(undefined, { grant: undefined })).toBeUndefined();
  });
});
