/** What stands for an answer without words. */
const NO_RESPONSE = '(No response)';

/**
 * One response out of what the assistant said on the way and what it said last. The last part always stays; an earlier
 * one goes when a later part says it again, compared without regard to white space and only at word boundaries.
 */
export function aggregate(intermediate: readonly string[], final: string): string {
  const parts = [...intermediate, final].filter((part) => part.trim() !== '');
  const folded = parts.map(fold);
  const kept = parts.filter((_, index) => {
    const part = folded[index] ?? '';
    return !folded.slice(index + 1).some((later) => contains(later, part));
  });
  return kept.length === 0 ? NO_RESPONSE : kept.join('\n\n');
}

const fold = (text: string): string => text.trim().replace(/\s+/g, ' ');

function contains(whole: string, part: string): boolean {
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1)) {
    if (isBoundary(whole, at) && isBoundary(whole, at + part.length)) return true;
  }
  return false;
}

/** False only inside a word, so that "a" is not found in "answer". */
function isBoundary(text: string, at: number): boolean {
  return !(isWordCharacter(text[at - 1]) && isWordCharacter(text[at]));
}

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}]/u.test(character);
