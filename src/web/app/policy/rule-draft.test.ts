import { describe, expect, it } from 'vitest';
import { policyRule } from '../../../contract/policy.ts';
import type { Rule } from '../../../kernel/views/policy-shapes.ts';
import { draftOf, ruleOf } from './rule-draft.ts';
import { describeRule, ruleSentence } from './words.ts';

const FULL = {
  id: 'posts',
  label: 'Posts',
  enabled: false,
  priority: 7,
  tools: ['x_post_tweet'],
  categories: ['write'],
  toolkits: ['x'],
  effects: ['change'],
  modes: ['autopilot'],
  principals: ['agent:ada'],
  schedule: { start: '09:00', end: '17:00', timezone: 'UTC', days: ['Mon'] },
  when: 'size(args.text) > 200',
  action: 'ask',
  reason: 'Long posts',
  signers: 2,
} as const satisfies Rule;

describe('a rule in the form', () => {
  it('keeps everything that a rule can say', () => {
    const named = [...Object.keys(FULL), 'signed'].sort();
    expect(named).toEqual(Object.keys(policyRule.shape).sort());
    expect(ruleOf(draftOf(FULL))).toEqual(FULL);
  });

  it.each([
    [{ signed: true }, { signed: true }],
    [{ signers: 1 }, { signed: true }],
    [{ signed: true, signers: 3 }, { signers: 3 }],
    [{ signed: false }, {}],
    [{}, {}],
  ])('that requires %j requires %j when it is stored again', (given, stored) => {
    const { signed, signers } = ruleOf(draftOf({ id: 'posts', action: 'ask', ...given }));
    expect({ signed, signers }).toEqual({ signed: undefined, signers: undefined, ...stored });
  });

  it('says in words who signs', () => {
    const said = (rule: Rule) =>
      ruleSentence(rule)
        .map(([text]) => text)
        .join('');
    const rule = { id: 'posts', action: 'ask', tools: ['x_post_tweet'] } as const;
    expect(said(rule)).toBe('When anyone calls x_post_tweet, then ask a person.');
    expect(said({ ...rule, signed: true })).toBe(
      'When anyone calls x_post_tweet, then ask a person, and the decision is signed with a passkey.',
    );
    expect(describeRule({ ...rule, signers: 2 })).toBe('x_post_tweet; signed with passkeys by 2 people');
    expect(describeRule(rule)).toBe('x_post_tweet');
  });

  it('requires no signature for what no person decides', () => {
    expect(ruleOf({ ...draftOf(FULL), action: 'deny' })).not.toHaveProperty('signers');
  });
});
