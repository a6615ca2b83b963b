import type { ViewData } from '../../../contract/view.ts';
import { lookup } from '../../../lib/lookup.ts';
import { viewsOf } from '../../../web/ui/page-data.ts';
import { isRecord, textAt } from '../../../web/ui/session.ts';
import type { views } from '../views.ts';

export const { useView } = viewsOf<typeof views>('assistant');

export type Status = ViewData<typeof views.status>;
export type Entry = ViewData<typeof views.transcript>['entries'][number];

type Part =
  | { readonly key: number; readonly kind: 'text'; readonly text: string }
  | {
      readonly key: number;
      readonly kind: 'data';
      readonly label: string;
      readonly name: string;
      readonly value: unknown;
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
  compaction: 'Summary of the earlier conversation',
};

export function roleOf({ message, type }: Entry): string {
  const role = message?.role ?? type;
  return lookup(ROLES, role) ?? role;
}

/** What an entry says, part by part: words as text, calls and results as data. */
export function contentParts(entry: Entry): readonly Part[] {
  const { message } = entry;
  if (!message) return [{ key: 0, kind: 'text', text: entry.text ?? entry.summary ?? '' }];
  if (typeof message.content === 'string') return [{ key: 0, kind: 'text', text: message.content }];
  if (!Array.isArray(message.content)) return [];
  return message.content.map((part: unknown, key): Part => {
    const type = textAt(part, 'type') ?? '';
    if (type === 'text') return { key, kind: 'text', text: textAt(part, 'text') ?? '' };
    const shown = isRecord(part) ? (part.input ?? part.output ?? part.text ?? part) : part;
    return {
      key,
      kind: 'data',
      label: lookup(LABELS, type) ?? type,
      name: textAt(part, 'toolName') ?? '',
      value: shown,
    };
  });
}
