import type { Action, Rule } from './types.ts';

/** A rule as a form holds it: lists are text with commas, what is empty is left out. */
export interface Draft {
  readonly id: string;
  readonly label: string;
  readonly action: Action;
  readonly tools: string;
  readonly toolkits: string;
  readonly principals: string;
  readonly effects: readonly string[];
  readonly when: string;
  readonly from: string;
  readonly until: string;
  readonly priority: string;
  readonly reason: string;
  /** What the form does not show and must not lose. */
  readonly rest: Partial<Rule>;
}

export function draftOf(rule: Rule | undefined): Draft {
  const {
    id,
    label,
    action,
    tools,
    toolkits,
    principals,
    effects,
    when,
    schedule,
    priority,
    reason,
    ...rest
  } = rule ?? { id: '', action: 'ask' };
  return {
    id,
    label: label ?? '',
    action,
    tools: tools?.join(', ') ?? '',
    toolkits: toolkits?.join(', ') ?? '',
    principals: principals?.join(', ') ?? '',
    effects: effects ?? [],
    when: when ?? '',
    from: schedule?.start ?? '',
    until: schedule?.end ?? '',
    priority: String(priority ?? 100),
    reason: reason ?? '',
    rest: { ...rest, ...(schedule ? { schedule } : {}) },
  };
}

const words = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((word) => word.trim())
    .filter(Boolean);

const listed = <K extends string>(key: K, text: string): Partial<Record<K, string[]>> =>
  words(text).length > 0 ? ({ [key]: words(text) } as Record<K, string[]>) : {};

export function ruleOf(draft: Draft): Rule {
  const { schedule, ...rest } = draft.rest;
  const timezone = schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return {
    ...rest,
    id: draft.id.trim(),
    action: draft.action,
    ...(draft.label.trim() ? { label: draft.label.trim() } : {}),
    ...listed('tools', draft.tools),
    ...listed('toolkits', draft.toolkits),
    ...listed('principals', draft.principals),
    ...(draft.effects.length > 0 ? { effects: [...draft.effects] } : {}),
    ...(draft.when.trim() ? { when: draft.when.trim() } : {}),
    ...(draft.from.trim() || draft.until.trim()
      ? {
          schedule: {
            ...schedule,
            start: draft.from.trim() || '00:00',
            end: draft.until.trim() || '00:00',
            timezone,
          },
        }
      : {}),
    priority: Number.parseInt(draft.priority, 10) || 100,
    ...(draft.reason.trim() ? { reason: draft.reason.trim() } : {}),
  };
}
