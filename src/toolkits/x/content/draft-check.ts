import { MAX_POST_LENGTH, postLength } from '../lib/post-text.ts';

export interface DraftRules {
  bannedPhrase(text: string): string | undefined;
  /** Links the text may hold; a link from anywhere else came from somebody else's post. */
  readonly allowedLinks: readonly string[];
}

const LINK = /https?:\/\/\S+/giu;

/** What is wrong with a generated text, as an instruction to write it anew; undefined when it can be used. */
export async function draftProblem(text: string, rules: DraftRules): Promise<string | undefined> {
  if (text === '') return 'The text was empty. Write the post.';
  const length = await postLength(text);
  if (length > MAX_POST_LENGTH) {
    return `The text was ${length} characters long. Write it again with fewer than ${MAX_POST_LENGTH - 40}.`;
  }
  const phrase = rules.bannedPhrase(text);
  if (phrase !== undefined) return `The text held the banned phrase "${phrase}". Write it again without it.`;
  const stray = (text.match(LINK) ?? []).some(
    (link) => !rules.allowedLinks.some((allowed) => link.startsWith(allowed)),
  );
  return stray ? 'The text held a link. Write it again without links.' : undefined;
}

/** Models like to wrap a post in quotation marks or announce it. */
export function bareText(answer: string): string {
  const text = answer.trim().replace(/^(tweet|post|reply)\s*:\s*/iu, '');
  const quoted = /^(["“”'])([\s\S]*)(["“”'])$/u.exec(text);
  const inner = quoted?.[2];
  return inner !== undefined && !/["“”]/u.test(inner) ? inner.trim() : text;
}

/** Parts of a thread stand between lines of dashes; numbering is taken off. */
export const splitParts = (answer: string): string[] =>
  answer
    .split(/^\s*-{3,}\s*$/mu)
    .map((part) => bareText(part).replace(/^(\d{1,2}\s*[/.)]\s*(\d{1,2}\s*[:.)]?\s+)?)/u, ''))
    .filter((part) => part !== '');
