import { isRecord, type Json, textAt } from '../../lib/json.ts';

export interface SessionRow {
  readonly key: string;
  readonly sessionId: string;
  readonly caller: string;
  readonly updatedAt: number;
  readonly abortedLastRun: boolean;
  readonly model: string | null;
  /** What the newest order says, shortened. */
  readonly lastOrder: string | null;
  readonly working: boolean;
  readonly doing: string | null;
}

export interface Status {
  readonly backend: string;
  readonly model: string | null;
  readonly configured: boolean;
  readonly problem?: { readonly message: string };
}

export interface Entry {
  readonly type: string;
  readonly seq: number;
  readonly timestamp: string;
  readonly inContext?: boolean;
  readonly message?: { readonly role: string; readonly content: Json };
  readonly text?: string;
  readonly summary?: string;
}

type Part =
  | { readonly key: number; readonly kind: 'text'; readonly text: string }
  | {
      readonly key: number;
      readonly kind: 'data';
      readonly label: string;
      readonly name: string;
      readonly value: Json;
    };

const LABELS: Readonly<Record<string, string>> = {
  'tool-call': 'Calls',
  'tool-result': 'Result of',
  reasoning: 'Thinks',
};

const ROLES: Readonly<Record<string, string>> = {
  user: 'Order',
  assistant: 'Assistant',
  tool: 'Tool',
  note: 'Note',
  compaction: 'Summary of what was said before',
};

export function roleOf({ message, type }: Entry): string {
  const role = message?.role ?? type;
  return ROLES[role] ?? role;
}

/** What an entry says, part by part: words as text, calls and results as data. */
export function contentParts(entry: Entry): readonly Part[] {
  const { message } = entry;
  if (!message) return [{ key: 0, kind: 'text', text: entry.text ?? entry.summary ?? '' }];
  if (typeof message.content === 'string') return [{ key: 0, kind: 'text', text: message.content }];
  if (!Array.isArray(message.content)) return [];
  return message.content.map((part, key): Part => {
    const type = textAt(part, 'type') ?? '';
    if (type === 'text') return { key, kind: 'text', text: textAt(part, 'text') ?? '' };
    const shown = isRecord(part) ? (part.input ?? part.output ?? part.text ?? part) : part;
    return {
      key,
      kind: 'data',
      label: LABELS[type] ?? type,
      name: textAt(part, 'toolName') ?? '',
      value: shown,
    };
  });
}
