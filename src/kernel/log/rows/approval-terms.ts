import { hash } from 'node:crypto';
import type { JsonObject } from '../../../contract/json.ts';
import { newSalt } from '../../../lib/random.ts';
import { parseObject } from '../../store/cells.ts';
import type { ApprovalsTable } from '../../store/tables.ts';

/**
 * The context of an approval as it is stored. Its salt keeps the context, the person's words and the result from being
 * guessed from what the entries say of them, and goes when the approval is erased.
 */
export const saltContext = (context: JsonObject): string => JSON.stringify({ ...context, salt: newSalt() });

export const withoutSalt = ({ salt: _salt, ...context }: JsonObject): JsonObject => context;

/** Approvals of earlier versions have none: nothing more is said of them. */
export const isSalted = (context: string): boolean => typeof parseObject(context)?.salt === 'string';

const digestOf = (...cells: readonly (string | null)[]): string =>
  // A database stores a lone surrogate as the replacement character.
  hash('sha256', JSON.stringify(cells.map((cell) => cell?.toWellFormed() ?? null)));

/** In the entry that asks. */
export const contextDigest = (context: string): string => digestOf(context);

/** In the entry of a decision: what the person said with it. */
export const saidDigest = ({
  context,
  decision_reason,
  feedback,
}: Pick<ApprovalsTable, 'context' | 'decision_reason' | 'feedback'>): string =>
  digestOf(context, decision_reason, feedback);

/** In an entry of the approval itself that stores a result with it. */
export const resultDigest = ({ context, outcome }: Pick<ApprovalsTable, 'context' | 'outcome'>): string =>
  digestOf(context, outcome);
