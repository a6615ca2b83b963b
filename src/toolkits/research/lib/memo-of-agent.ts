import { ToolFault } from '../../../contract/faults.ts';
import type { Principal } from '../../../contract/principal.ts';
import { PRIVATE_MARK, replacePublicMemo } from './memo.ts';

/** A memo as it will be stored: a person writes all of it, an agent only the public part in front of a private one. */
export function memoToStore(principal: Principal, text: string, old = ''): string {
  if (principal.kind === 'person') return text;
  if (text.includes(PRIVATE_MARK)) {
    throw new ToolFault(
      'validation_error',
      `A memo by an agent cannot contain ${PRIVATE_MARK}: what follows that mark is private to the researcher.`,
    );
  }
  return replacePublicMemo(old, text);
}
