import { ToolError } from '../../../contract/errors.ts';
import type { JsonValue } from '../../../contract/json.ts';
import type { Principal } from '../../../contract/principal.ts';

/** QualCoder's mark: from the first one on, a memo is the researcher's own and no agent may see it. */
const PRIVATE_MARK = '#####';

/** The part of a memo that may leave the project. */
export function publicMemo(memo: string): string {
  const at = memo.indexOf(PRIVATE_MARK);
  return at === -1 ? memo : memo.slice(0, at).trimEnd();
}

/** The private part with its mark, or nothing. */
function privateMemo(memo: string): string {
  const at = memo.indexOf(PRIVATE_MARK);
  return at === -1 ? '' : memo.slice(at);
}

/** A new public part in front of the private part that was there. */
function replacePublicMemo(old: string, text: string): string {
  const kept = privateMemo(old);
  if (!kept) return text;
  return text ? `${text.trimEnd()}\n${kept}` : kept;
}

/** Two memos in one: public parts first, private parts last, so that nothing private becomes public. */
export function joinMemos(first: string, second: string, heading = ''): string {
  const open = joinParts(publicMemo(first), publicMemo(second), heading);
  const hidden = [privateMemo(first), privateMemo(second)].filter(Boolean).join('\n');
  return [open, hidden].filter(Boolean).join('\n');
}

function joinParts(first: string, second: string, heading: string): string {
  if (!second || first === second) return first;
  const added = heading ? `${heading}\n${second}` : second;
  return first ? `${first}\n\n${added}` : added;
}

/** The same value without the private part of any text in it, for the log; what holds none is not copied. */
export function withoutPrivateParts(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.includes(PRIVATE_MARK) ? `${publicMemo(value)}${CUT}` : value;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const shared = value.map(withoutPrivateParts);
    return shared.some((item, at) => item !== value[at]) ? shared : value;
  }
  const entries = Object.entries(value);
  const shared = entries.map(([name, item]) => [name, withoutPrivateParts(item ?? null)] as const);
  return shared.some(([, item], at) => item !== (entries[at]?.[1] ?? null))
    ? Object.fromEntries(shared)
    : value;
}

const CUT = `\n${PRIVATE_MARK} (private)`;

/** A memo as it will be stored: a person writes all of it, an agent only the public part in front of a private one. */
export function memoToStore(principal: Principal, text: string, old = ''): string {
  if (principal.kind === 'person') return text;
  if (text.includes(PRIVATE_MARK)) {
    throw new ToolError(
      'validation_error',
      `A memo by an agent cannot contain ${PRIVATE_MARK}: what follows that mark is private to the researcher.`,
    );
  }
  return replacePublicMemo(old, text);
}

/** Ours, QualCoder's own assistant and other programs that mark themselves. */
export const isAgentOwner = (owner: string): boolean => /^AI[: ]/.test(owner);
