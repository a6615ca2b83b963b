import { describe, expect, it } from 'vitest';
import { ask, compile } from './policy.fixture.ts';

const rule = (id: string, rest: object = {}) => ({ id, action: 'ask', tools: ['x_like_tweet'], ...rest });

describe('people who must sign a decision', () => {
  it('are as many as the rule says, one for a signed rule, and else none is named', async () => {
    const cases = [
      [{ signers: 2 }, 2],
      [{ signed: true }, 1],
      [{}, undefined],
    ] as const;
    for (const [rest, signers] of cases) {
      const decision = ask(await compile({ rules: [rule('r', rest)] }), 'x_like_tweet');
      expect(decision).toMatchObject({ action: 'ask', rule: 'r' });
      expect(decision.signers).toBe(signers);
      expect('signers' in decision).toBe(signers !== undefined);
    }
  });

  it('are the most that any matching rule requires, whichever decides', async () => {
    const rules = [rule('one', { signed: true }), rule('three', { signers: 3 }), rule('none')];
    const policy = await compile({ rules });
    expect(ask(policy, 'x_like_tweet')).toMatchObject({ rule: 'one', signers: 3 });
    expect(ask(policy, 'x_search_tweets').signers).toBeUndefined();
  });
});
