import { randomBytes } from 'node:crypto';
import { ToolFault } from '../../../contract/faults.ts';

const MAX_LENGTH = 512;

/** Names that elsewhere mean a private or internal conversation; nobody gets to one by asking for it. */
const RESERVED_NAMES = new Set(['main', 'global', 'unknown', 'system', 'assistant']);
const RESERVED_PREFIXES = [
  'agent:',
  'subagent:',
  'acp:',
  'cron:',
  'hook:',
  'group:',
  'channel:',
  'system:',
  'countersign:',
];

/** `mcp-{timestamp}-{random}`: unguessable, so that one caller cannot hit upon another's conversation. */
export const generateKey = (now: Date): string => `mcp-${now.getTime()}-${randomBytes(12).toString('hex')}`;

/** A key is used exactly as given, so what cannot be a key is refused rather than repaired. */
export function checkKey(key: string): void {
  const refuse = (why: string): never => {
    throw new ToolFault('invalid_input', `sessionKey ${why}`, { detail: { field: 'sessionKey' } });
  };
  if (key.trim() === '') refuse('is empty. Leave it out to start a conversation of its own, or give a name.');
  if (key.length > MAX_LENGTH) refuse(`is longer than ${MAX_LENGTH} characters. Use a shorter name.`);
  if (/\p{Cc}/u.test(key)) refuse('contains a control character. Use printable characters only.');
  const folded = key.trim().toLowerCase();
  if (RESERVED_NAMES.has(folded) || RESERVED_PREFIXES.some((prefix) => folded.startsWith(prefix))) {
    refuse('is a reserved name. Choose another, such as user-123-conversation.');
  }
}
