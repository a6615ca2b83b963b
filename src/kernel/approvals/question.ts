import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import type { ApprovalQueue } from './queue.ts';

const MAX_LISTED = 10;

/** What a `decide` call is about, in words for the person and as the command that does the same. */
export async function describeDecisionTargets(
  queue: Pick<ApprovalQueue, 'get' | 'list'>,
  args: JsonObject,
): Promise<{ text: string; command: string }> {
  const named: Approval[] = [];
  for (const value of Object.values(args)) {
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const one = await queue.get(value);
    if (one) named.push(one);
    else if (typeof value === 'string')
      named.push(...(await queue.list({ groupId: value, states: ['pending'], limit: MAX_LISTED + 1 })));
  }
  const targets =
    named.length > 0
      ? named
      : await queue.list({ states: ['pending'], order: 'oldest', limit: MAX_LISTED + 1 });
  const lines = targets.slice(0, MAX_LISTED).map((item) => `#${item.id} ${item.summary}`);
  if (targets.length > MAX_LISTED) lines.push('… and more; see `countersign approvals list`.');
  const first = targets[0];
  return {
    text: lines.length > 0 ? lines.join('\n') : 'Nothing is waiting.',
    command:
      named.length === 1 && first
        ? `countersign approvals approve ${first.id}`
        : 'countersign approvals list',
  };
}
