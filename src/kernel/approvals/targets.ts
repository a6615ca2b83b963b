import { createHash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import { type Approval, describeAsked } from '../../contract/ports.ts';
import type { DecisionScope } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { showUnseenLine } from '../../lib/unseen.ts';
import type { ApprovalQueue } from './queue.ts';

const MAX_LISTED = 50;
/** Longer texts are scrolled past in a dialog, if it shows them at all. */
const MAX_TEXT = 6_000;
/** Far above what any tool decides in one call. */
const MAX_TARGETS = 5_000;

export interface DecisionTargets {
  readonly text: string;
  /** False: it decides about something that is not an approval, such as a draft. */
  readonly isAboutApprovals: boolean;
  /** Whether the text shows all of it; else a dialog must not decide. */
  readonly isWhole: boolean;
  /** What the question is about; a person's answer counts only for this. */
  readonly ids: ReadonlySet<number>;
  /** Names exactly these rows as they are now: one more, one less or one edited gives another stamp. */
  readonly about: string;
  /** Those that are still to be decided. */
  readonly pending: readonly Approval[];
}

/** What a `decide` call is about, in words for the person. */
export async function describeDecisionTargets(
  queue: Pick<ApprovalQueue, 'get' | 'list' | 'refreshed'>,
  { tool, toolkit }: Pick<BoundTool, 'tool' | 'toolkit'>,
  args: JsonObject,
): Promise<DecisionTargets> {
  // A tool that does not say what it decides is shown with everything it could decide.
  const scope = tool.decides?.(args) ?? 'all-pending';
  const isAboutApprovals = scope === 'all-pending' || !('ids' in scope) || scope.ids.length > 0;
  const targets = await targetsOf(queue, toolkit.id, scope);
  const listed = await queue.refreshed(targets.slice(0, MAX_LISTED));
  const lines = listed.map(describeTarget);
  const more = targets.length - lines.length;
  const isWhole = more <= 0 && lines.join('\n').length <= MAX_TEXT;
  if (more > 0) lines.push(`… and ${more} more, which the inbox lists.`);
  return {
    text:
      lines.length > 0
        ? lines.join('\n')
        : isAboutApprovals
          ? 'No approvals are pending.'
          : showUnseenLine(JSON.stringify(args)),
    isAboutApprovals,
    isWhole,
    ids: new Set(targets.map(({ id }) => id)),
    about: stampOf(targets),
    pending: targets.filter(({ state }) => state === 'pending'),
  };
}

async function targetsOf(
  queue: Pick<ApprovalQueue, 'get' | 'list'>,
  toolkit: string,
  scope: DecisionScope,
): Promise<readonly Approval[]> {
  const pending = { states: ['pending'], order: 'oldest', limit: MAX_TARGETS } as const;
  if (scope === 'all-pending') return queue.list({ ...pending, toolkit, kind: 'call' });
  if ('group' in scope) return queue.list({ ...pending, groupId: scope.group });
  const found = await Promise.all(scope.ids.map((id) => queue.get(id)));
  return found.filter((one) => one !== undefined);
}

const stampOf = (targets: readonly Approval[]): string =>
  createHash('sha256')
    .update(JSON.stringify(targets.map(({ id, version, digest }) => [id, version, digest])))
    .digest('hex');

/** Its title, and all its arguments: an agent words both, so neither can draw further lines into the person's dialog. */
const describeTarget = (item: Approval): string =>
  [
    `#${item.id} ${showUnseenLine(describeAsked(item))}`,
    ...Object.entries(item.args).map(
      ([name, value]) => `  ${showUnseenLine(`${name}: ${JSON.stringify(value)}`)}`,
    ),
  ].join('\n');
