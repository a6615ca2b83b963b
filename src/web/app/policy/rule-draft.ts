import type { Action } from '../../../contract/policy.ts';
import type { Rule } from '../../../kernel/views/policy-shapes.ts';

export const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

/** A rule as a form holds it: lists of names are text with commas, what is empty is left out. */
export interface Draft {
  readonly id: string;
  readonly label: string;
  readonly enabled: boolean;
  readonly action: Action;
  readonly tools: string;
  readonly categories: string;
  readonly toolkits: string;
  readonly principals: string;
  readonly effects: readonly string[];
  readonly modes: readonly string[];
  readonly when: string;
  readonly days: readonly string[];
  readonly from: string;
  readonly until: string;
  readonly timezone: string;
  readonly priority: string;
  readonly reason: string;
  /** How many people must sign a decision with a passkey. */
  readonly signers: string;
}

const NEW: Rule = { id: '', action: 'ask' };

export function draftOf(rule: Rule = NEW): Draft {
  const { schedule } = rule;
  const days = schedule?.days ?? [];
  return {
    id: rule.id,
    label: rule.label ?? '',
    enabled: rule.enabled ?? true,
    action: rule.action,
    tools: rule.tools?.join(', ') ?? '',
    categories: rule.categories?.join(', ') ?? '',
    toolkits: rule.toolkits?.join(', ') ?? '',
    principals: rule.principals?.join(', ') ?? '',
    effects: rule.effects ?? [],
    modes: rule.modes ?? [],
    when: rule.when ?? '',
    // Every day is what no day ticked says.
    days: days.length === WEEKDAYS.length ? [] : days,
    from: schedule?.start ?? '',
    until: schedule?.end ?? '',
    timezone: schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    priority: String(rule.priority ?? 100),
    reason: rule.reason ?? '',
    signers: String(rule.signers ?? (rule.signed ? 1 : 0)),
  };
}

/** The rule that a draft says. */
export function ruleOf(draft: Draft): Rule {
  const { id, action, enabled, effects, modes } = draft;
  return {
    id: id.trim(),
    action,
    enabled,
    priority: Number.parseInt(draft.priority, 10) || 100,
    ...texts({ label: draft.label, when: draft.when, reason: draft.reason }),
    ...lists({
      tools: words(draft.tools),
      categories: words(draft.categories),
      toolkits: words(draft.toolkits),
      principals: words(draft.principals),
      effects,
      modes,
    }),
    ...scheduleOf(draft),
    ...signaturesOf(draft),
  };
}

/** Only a decision of a person can be signed. */
function signaturesOf({ action, signers }: Draft): Pick<Rule, 'signed' | 'signers'> {
  const count = action === 'ask' ? Number(signers) : 0;
  if (count === 0) return {};
  return count === 1 ? { signed: true } : { signers: count };
}

function scheduleOf({ days, from, until, timezone }: Draft): Pick<Rule, 'schedule'> {
  if (!from && !until && days.length === 0) return {};
  return {
    schedule: {
      start: from || '00:00',
      end: until || '00:00',
      timezone: timezone.trim() || 'UTC',
      ...lists({ days: WEEKDAYS.filter((day) => days.includes(day)) }),
    },
  };
}

const words = (text: string): readonly string[] => text.split(/[\s,]+/).filter(Boolean);

const texts = (given: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([key, text]) => (text.trim() ? [[key, text.trim()]] : [])),
  );

const lists = (given: Readonly<Record<string, readonly string[]>>): Record<string, readonly string[]> =>
  Object.fromEntries(Object.entries(given).filter(([, list]) => list.length > 0));
