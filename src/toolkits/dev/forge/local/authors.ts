import { type Principal, principalName } from '../../../../contract/principal.ts';
import type { Author } from '../port.ts';

export const authorName = (principal: Principal): string => principalName(principal);

/** Locally only what a person wrote is trusted; an agent's text may carry anybody's words. */
export function localAuthor(name: string): Author {
  const kind = name.startsWith('person:') ? 'person' : name.startsWith('agent:') ? 'agent' : 'unknown';
  return {
    login: name.slice(name.indexOf(':') + 1),
    kind,
    trust: kind === 'person' ? 'trusted' : 'untrusted',
  };
}
