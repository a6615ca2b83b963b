import { type Principal, principalName } from '../../contract/principal.ts';
import { type NameProblem, unknownName } from './catalogue.ts';
import { matchesPattern } from './pattern.ts';

const KINDS: readonly string[] = ['agent', 'person', 'system'];

/** `agent` and `agent:*` are any agent, `agent:NAME` is one, `*` is anybody. */
export function checkPrincipal(pattern: string): NameProblem | undefined {
  if (pattern === '*') return undefined;
  const [kind = '', ...rest] = pattern.split(':');
  if (!KINDS.includes(kind)) return unknownName('kind of principal', kind, KINDS);
  if (pattern.includes(':') && rest.join(':') === '')
    return { problem: `'${pattern}' has no name after the colon` };
  return undefined;
}

export const matchesPrincipal = (pattern: string, who: Principal): boolean =>
  pattern === '*' || pattern === who.kind || matchesPattern(pattern, principalName(who));

/** The same for several patterns at once; most name a kind or one principal, which a set answers. */
export function compilePrincipals(patterns: readonly string[]): (who: Principal, name: string) => boolean {
  const plain = new Set(patterns.map((pattern) => pattern.replace(/:\*$/, '')));
  if (plain.has('*')) return () => true;
  const open = [...plain].filter((pattern) => pattern.includes('*'));
  return (who, name) =>
    plain.has(who.kind) || plain.has(name) || open.some((pattern) => matchesPattern(pattern, name));
}
