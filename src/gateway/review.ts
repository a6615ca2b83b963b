import type { Effect } from '../contract/tool.ts';
import { compare, type Definition, type FieldChange, pinOf, warningsOf } from './definition.ts';
import { effectAfter, proposedEffect } from './effects.ts';
import { publicName } from './names.ts';
import type { Seen } from './store.ts';

/** What a person is shown of one tool before they trust it. */
export interface ToolReview {
  readonly tool: string;
  readonly name: string;
  /** `trusted`: nothing to do. `new`: never trusted. `changed`: trusted in another form. `gone`: no longer listed. */
  readonly state: 'trusted' | 'new' | 'changed' | 'gone';
  readonly effect: Effect;
  readonly hash: string;
  readonly definition: Definition;
  readonly warnings: readonly string[];
  readonly changes: readonly FieldChange[];
  readonly decidedBy: string | undefined;
  readonly decidedAt: string | undefined;
}

/** Cleaned and shortened names can meet; a person should know that one tool would stand for another. */
const clashes = (server: string, tool: string, names: readonly string[]): string[] =>
  names
    .filter((other) => other !== tool && publicName(server, other) === publicName(server, tool))
    .map((other) => `Gets the same name as ${JSON.stringify(other)}; only one of them is offered`);

/**
 * Compares what is trusted with the newest listing. Every listing writes the same time to all of its tools, so the rows
 * with the newest time are what the server offers.
 */
export function reviewOf(server: string, seen: readonly Seen[], listedAt: string | undefined): ToolReview[] {
  const names = [...new Set(seen.map(({ tool }) => tool))];
  return names.flatMap((tool) => {
    const versions = seen.filter((one) => one.tool === tool);
    const pin = versions.find(({ state }) => state === 'trusted');
    const now = versions.find(({ seenAt }) => seenAt === listedAt);
    const shown = now ?? pin;
    if (!shown) return [];
    const state = !now ? 'gone' : !pin ? 'new' : pin.hash === now.hash ? 'trusted' : 'changed';
    return [
      {
        tool,
        name: publicName(server, tool),
        state,
        effect: pin
          ? effectAfter(pin.definition, pin.effect, shown.definition)
          : proposedEffect(shown.definition),
        hash: pinOf(shown.definition),
        definition: shown.definition,
        warnings: [...warningsOf(shown.definition), ...clashes(server, tool, names)],
        changes: state === 'changed' && pin ? compare(pin.definition, shown.definition) : [],
        decidedBy: pin?.decidedBy,
        decidedAt: pin?.decidedAt,
      },
    ];
  });
}
