const WHOLE: Readonly<Record<string, string>> = {
  proposal: 'a suggestion, which always waits for a person',
  permit: 'a request for permission beforehand',
  default: 'no rule in particular',
};
const KINDS: Readonly<Record<string, string>> = {
  hard: 'the built-in rule',
  list: 'the list',
  setting: 'the setting',
};

/** Where a rule comes from, in words: `template:safe_default:writes` is the rule "writes" of a template. */
export function ruleName(id: string): string {
  const whole = Object.hasOwn(WHOLE, id) ? WHOLE[id] : undefined;
  if (whole !== undefined) return whole;
  const [kind = '', ...rest] = id.split(':');
  const words = rest.map((part) => part.replaceAll('_', ' '));
  if (kind === 'template' && words.length === 2) return `the rule “${words[1]}” of the template ${words[0]}`;
  const known = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  return known !== undefined && words.length === 1 ? `${known} “${words[0]}”` : `the rule “${id}”`;
}
