import type { PolicyData, Rule } from '../../../kernel/views/policy-shapes.ts';
import { lookup } from '../../../lib/lookup.ts';

const ACTS = {
  allow: 'allow it',
  ask: 'ask a person',
  dry_run: 'make it a dry run',
  deny: 'deny it',
} as const;

/** A rule as a sentence, in parts; what stands out is what the rule says, the rest is grammar. */
export function ruleSentence(rule: Rule): readonly (readonly [text: string, strong: boolean])[] {
  const parts: [string, boolean][] = [
    ['When ', false],
    [whoOf(rule.principals), true],
    [' calls ', false],
    [whatOf(rule), true],
  ];
  const { schedule } = rule;
  if (rule.modes) parts.push([' in mode ', false], [rule.modes.join(' or '), true]);
  if (schedule?.days && schedule.days.length < 7)
    parts.push([' on ', false], [schedule.days.join(', '), true]);
  if (schedule && schedule.start !== schedule.end)
    parts.push([' between ', false], [`${schedule.start} and ${schedule.end} (${schedule.timezone})`, true]);
  if (rule.when) parts.push([' and ', false], [rule.when, true], [' is true', false]);
  parts.push([', then ', false], [ACTS[rule.action], true]);
  const signed = signaturesOf(rule);
  if (signed) parts.push([', and the decision is ', false], [signed, true]);
  parts.push(['.', false]);
  return parts;
}

/** Empty where a press of a button decides. */
function signaturesOf({ signed, signers = signed ? 1 : 0 }: Rule): string {
  if (signers === 0) return '';
  return signers === 1 ? 'signed with a passkey' : `signed with passkeys by ${signers} people`;
}

const whoOf = (principals: Rule['principals']): string =>
  principals === undefined || principals.includes('*')
    ? 'anyone'
    : principals
        .map((one) =>
          one === 'agent' || one === 'agent:*' ? 'any agent' : one.replace(/^(agent|person):/u, ''),
        )
        .join(' or ');

function whatOf({ tools, categories, toolkits, effects }: Rule): string {
  const kinds = [
    ...(tools ? [tools.join(' or ')] : []),
    ...(categories ? [`a tool of category ${categories.join(' or ')}`] : []),
    ...(toolkits ? [`a tool of ${toolkits.join(' or ')}`] : []),
  ];
  const what = kinds.join(', ');
  if (effects)
    return what
      ? `${what} with effect ${effects.join(' or ')}`
      : `a tool with effect ${effects.join(' or ')}`;
  return what || 'a tool that changes something';
}

/** The same in short, for a list. */
export function describeRule(rule: Rule): string {
  const { schedule } = rule;
  const parts = [
    rule.tools?.join(', ') ?? '',
    rule.categories ? `category ${rule.categories.join(', ')}` : '',
    rule.toolkits ? `toolkit ${rule.toolkits.join(', ')}` : '',
    rule.effects ? `effect ${rule.effects.join(', ')}` : '',
    rule.principals ? `by ${rule.principals.join(', ')}` : '',
    rule.modes ? `in ${rule.modes.join(' and ')}` : '',
    schedule?.days && schedule.days.length < 7 ? `on ${schedule.days.join(', ')}` : '',
    schedule && schedule.start !== schedule.end ? `${schedule.start} to ${schedule.end}` : '',
    rule.when ? `when ${rule.when}` : '',
    signaturesOf(rule),
  ].filter(Boolean);
  return parts.length > 0 ? parts.join('; ') : 'every change';
}

export const hitsOf = ({ hits }: PolicyData, rule: string): string => {
  const count = lookup(hits, rule) ?? 0;
  return count === 1 ? '1 hit in 7 days' : `${count.toLocaleString('en')} hits in 7 days`;
};
