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
