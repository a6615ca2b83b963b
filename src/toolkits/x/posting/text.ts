import { hash } from 'node:crypto';
import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { lookup } from '../../../lib/lookup.ts';
import { XError } from '../errors.ts';
import type { XServices } from '../services.ts';

export const MAX_POST_LENGTH = 280;

/** Length as X counts it: weighted ranges, two per emoji, 23 per link. */
export async function postLength(text: string): Promise<number> {
  const { default: twitterText } = await import('twitter-text');
  return twitterText.parseTweet(text).weightedLength;
}

/** Refuses a text X would refuse for its form. `index` names the part of a thread. */
export async function checkPostText(text: string, index?: number): Promise<void> {
  const { default: twitterText } = await import('twitter-text');
  const which = index === undefined ? 'The text' : `Part ${index + 1} of the thread`;
  const detail: JsonObject = index === undefined ? {} : { tweet_index: index };
  if (text.trim() === '') throw new ToolError('validation_error', `${which} is empty.`, { detail });
  if (twitterText.hasInvalidCharacters(text)) {
    throw new ToolError(
      'validation_error',
      `${which} contains a character that X does not accept (U+FFFE, U+FEFF or U+FFFF).`,
      {
        detail,
      },
    );
  }
  const { weightedLength } = twitterText.parseTweet(text);
  if (weightedLength > MAX_POST_LENGTH) {
    throw new XError(
      'tweet_too_long',
      `${which} is ${weightedLength} weighted characters long; X accepts ${MAX_POST_LENGTH}.`,
      { detail: { ...detail, length: weightedLength, max: MAX_POST_LENGTH } },
    );
  }
}

/** Two texts with one key read the same: case, spacing and Unicode form do not count. */
export const textKey = (text: string): string => hash('sha256', plainText(text)).slice(0, 32);

const plainText = (text: string): string => text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();

const LINK = /https?:\/\/\S+/gu;

/** Whether a post read back from X is the one sent: X escapes, shortens links, and puts @names before replies. */
export function isSentText(sent: string, found: string): boolean {
  const shape = (text: string): string => plainText(unescapeEntities(text).replace(LINK, ' [link] '));
  // Attached media appear as one more link at the end.
  const [ours, theirs] = [shape(sent), shape(found).replace(/^(@\w+ )+/u, '')];
  const bare = ours.replace(/^(@\w+ )+/u, '');
  return theirs === bare || theirs === `${bare} [link]`;
}

/** X sends `&`, `<` and `>` of a post back as entities. */
const unescapeEntities = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const EDGE_PUNCTUATION = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const SHORTEST_COMPARED = 5;

export function wordsOf(text: string): string[] {
  return plainText(text)
    .split(' ')
    .map((word) => word.replace(EDGE_PUNCTUATION, ''))
    .filter((word) => word !== '');
}

/** Share of words two texts have in common; texts of a few words say too little to be compared. */
export function similarity(a: string, b: string): number {
  const [left, right] = [new Set(wordsOf(a)), new Set(wordsOf(b))];
  if (left.size < SHORTEST_COMPARED || right.size < SHORTEST_COMPARED) return 0;
  const shared = [...left].filter((word) => right.has(word)).length;
  return shared / (left.size + right.size - shared);
}

/** Whether a phrase stands in a text as whole words, regardless of case. */
export function containsPhrase(text: string, phrase: string): boolean {
  const pattern = phrase
    .trim()
    .split(/\s+/u)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&'))
    .join('\\s+');
  return pattern !== '' && new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, 'iu').test(text);
}

export const previewShape = z.object({
  dry_run: z.literal(true),
  would_execute: z.string(),
  tweets: z.array(
    z.object({
      text: z.string(),
      length: z.number(),
      remaining: z.number(),
      media_ids: z.array(z.string()).optional(),
    }),
  ),
  limits: z.array(z.object({ action: z.string(), used: z.number(), max: z.number() })),
  policy: z.object({
    decision: z.string().describe('Decision on the real call: allow, ask, dry_run or deny.'),
    reason: z.string(),
    matched_rule_id: z.string(),
    mode: z.string(),
    approval_mode: z.boolean(),
    blocked: z.boolean(),
    listed_for_approval: z.boolean(),
    dry_run_mutations: z.boolean(),
  }),
});

interface Part {
  readonly text: string;
  readonly mediaIds?: readonly string[] | undefined;
}

/** What posting these texts would meet, by the same rules as the real call with these arguments. */
export async function previewPost(
  { services, principal }: Pick<ToolContext<XServices>, 'services' | 'principal'>,
  call: { readonly tool: string; readonly args: JsonObject },
  parts: readonly Part[],
) {
  const { policy } = services.kernel;
  const [status, verdict] = await Promise.all([
    policy.status(),
    policy.evaluate(call.tool, call.args, principal),
  ]).catch((cause: unknown) => {
    throw new ToolError('policy_error', 'The policy could not be read.', { cause });
  });
  if (!verdict) throw new ToolError('policy_error', `The policy does not know ${call.tool}.`);
  const lists = (key: string): boolean => {
    const names = lookup(status, key);
    return (
      Array.isArray(names) && (names.includes(call.tool) || names.includes(call.tool.replace(/^x_/, '')))
    );
  };
  const { mode, approvalMode } = services.operatingMode();
  const tweets = await Promise.all(
    parts.map(async ({ text, mediaIds = [] }) => {
      const length = await postLength(text);
      const media = mediaIds.length > 0 ? { media_ids: [...mediaIds] } : {};
      return { text, length, remaining: MAX_POST_LENGTH - length, ...media };
    }),
  );
  return {
    dry_run: true as const,
    would_execute: call.tool,
    tweets,
    limits: (await services.safety.usage()).map(({ action, used, max }) => ({ action, used, max })),
    policy: {
      decision: verdict.action,
      reason: verdict.reason,
      matched_rule_id: verdict.rule,
      mode,
      approval_mode: approvalMode,
      blocked: lists('blocked_tools'),
      listed_for_approval: lists('require_approval_for'),
      dry_run_mutations: status.dry_run_mutations === true,
    },
  };
}
