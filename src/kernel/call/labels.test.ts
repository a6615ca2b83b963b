import { describe, expect, it } from 'vitest';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { CallRequest } from './call.ts';
import { cleanRequest, cleanRunId, requireKey } from './labels.ts';
import { rawCall, toolNamed } from './steps.fixture.ts';

const requestWith = (more: Partial<CallRequest> = {}): CallRequest =>
  rawCall(toolNamed('ledger_read'), {}, more).request;

describe('the names in a request', () => {
  it('stay the same object while none of them needs cleaning', () => {
    const plain = requestWith();
    expect(cleanRequest(plain)).toBe(plain);
    const named = requestWith({
      principal: { ...LOCAL_AGENT, label: 'Claude' },
      client: 'Claude/9',
      reason: 'first line\nsecond line',
    });
    expect(cleanRequest(named)).toBe(named);
  });

  it.each([
    ['transport', { transport: 'a\u0007b' }, { transport: 'a\u{fffd}b' }],
    ['client', { client: 'a\u0007b' }, { client: 'a\u{fffd}b' }],
    ['reason', { reason: 'a\u0000b' }, { reason: 'a\u{fffd}b' }],
    [
      'principal',
      { principal: { ...LOCAL_AGENT, label: 'a\u0007b' } },
      { principal: { kind: 'agent', id: 'local', label: 'a\u{fffd}b' } },
    ],
  ] as const)('are cleaned where only the %s needs it', (_name, given, cleaned) => {
    const request = requestWith({ idempotencyKey: 'k', ...given });
    expect(cleanRequest(request)).toEqual({ ...request, ...cleaned });
  });

  it('cut a reason at 2,000 characters', () => {
    expect(cleanRequest(requestWith({ reason: 'r'.repeat(2_001) })).reason).toHaveLength(2_000);
  });
});

describe('a run ID that was not validated', () => {
  it('is kept up to 100 characters, cleaned, and dropped where it is empty, longer or not text', () => {
    expect(cleanRunId('r')).toBe('r');
    expect(cleanRunId('r\u0007')).toBe('r\u{fffd}');
    expect(cleanRunId('r'.repeat(100))).toBe('r'.repeat(100));
    for (const run of ['', 'r'.repeat(101), ['r'], 7, undefined]) expect(cleanRunId(run)).toBeUndefined();
  });
});

describe('an idempotency key', () => {
  it('may be as long as the setting allows, also beyond the length of a label', () => {
    expect(() => requireKey('k'.repeat(512), 512)).not.toThrow();
  });

  it('is refused when it is longer, with the setting', () => {
    expect(() => requireKey('kkk', 2)).toThrow(
      expect.objectContaining({
        code: 'quota_exceeded',
        detail: { setting: 'calls.max_idempotency_key_length', max: 2 },
      }),
    );
  });

  it('is refused rather than cleaned', () => {
    expect(() => requireKey('a\u0007', 512)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});
