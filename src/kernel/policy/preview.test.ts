import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contract/json.ts';
import { policyRule } from '../../contract/policy.ts';
import { callOf, inputOf } from './policy.fixture.ts';
import { type PastCall, previewRule } from './preview.ts';

const past = (
  callId: string,
  tool: string,
  args: JsonObject | undefined,
  at = '2026-03-02T10:00:00Z',
): PastCall => {
  const { subject, principal } = callOf(tool);
  return { callId, subject, args, principal, at: new Date(at) };
};

const CALLS = [
  past('a', 'create_code', { name: 'crypto' }),
  past('b', 'create_code', { name: 'joy' }, '2026-03-02T23:00:00Z'),
  past('c', 'create_code', undefined),
  past('d', 'x_post_tweet', { text: 'hello' }),
];

const preview = (rule: object, written: JsonObject = {}) =>
  previewRule(inputOf(written), policyRule.parse(rule), CALLS);

describe('a candidate rule', () => {
  it('shows which past calls it would have stopped and which are no longer known', async () => {
    const when = 'args.name.contains("crypto")';
    expect(
      await preview({ id: 'r', action: 'deny', tools: ['create_code'], when, reason: 'no crypto' }),
    ).toEqual({
      stopped: [{ callId: 'a', tool: 'create_code', before: 'allow', after: 'deny', reason: 'no crypto' }],
      loosened: [],
      unchanged: 2,
      stillAsk: 1,
      unknown: ['c'],
    });
  });

  it('evaluates each call at its own time', async () => {
    const { stopped, unknown } = await preview({
      id: 'r',
      action: 'ask',
      schedule: { start: '22:00', end: '06:00' },
    });
    expect(stopped.map(({ callId }) => callId)).toEqual(['b']);
    expect(unknown).toEqual([]);
  });

  it('shows what an allow rule would have allowed', async () => {
    const { stopped, loosened } = await preview({ id: 'r', action: 'allow', tools: ['x_post_tweet'] });
    expect(stopped).toEqual([]);
    expect(loosened).toMatchObject([{ callId: 'd', before: 'ask', after: 'allow' }]);
  });

  it('replaces the rule of the same id', async () => {
    const written = { rules: [{ id: 'r', action: 'deny', tools: ['create_code'] }] };
    const { loosened } = await preview({ id: 'r', action: 'ask', tools: ['create_code'] }, written);
    expect(loosened.map(({ callId }) => callId)).toEqual(['a', 'b', 'c']);
  });

  it('is refused when it could not be put in force', async () => {
    await expect(preview({ id: 'r', action: 'deny', tools: ['nope'] })).rejects.toThrow(
      "unknown tool 'nope'",
    );
  });
});
