import type { Principal } from '../../../contract/principal.ts';

const LONGEST = 60;

/**
 * The coder's name in the owner column. Agents are marked, so that nobody takes their work for a person's and
 * QualCoder's own coder comparison can set them against people.
 */
export function ownerName(
  principal: Principal,
  person: { readonly configured?: string; readonly inProject: string },
): string {
  if (principal.kind === 'person') return person.configured ?? (person.inProject || principal.id);
  const name = (principal.label ?? principal.id).replace(/[\p{C}\s]+/gu, ' ').trim();
  return `AI: ${(name || principal.id).slice(0, LONGEST)}`;
}

/** Ours, QualCoder's own assistant and other programs that mark themselves. */
export const isAgentOwner = (owner: string): boolean => /^AI[: ]/.test(owner);
