import { createHash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import type { ApprovalQueue } from './queue.ts';

const MAX_LISTED = 10;
/** Far above what any tool decides at once. */
const MAX_TARGETS = 5_000;

export interface DecisionTargets {
  readonly text: string;
  readonly command: string;
  /** What the question is about; a person's answer counts only for this. */
  readonly ids: ReadonlySet<number>;
  /** Names exactly these rows as they are now: one more, one less or one edited gives another stamp. */
  readonly about: string;
}

/** What a `decide` call is about, in words for the person and as the command that does the same. */
export async function describeDecisionTargets(
  queue: Pick<ApprovalQueue, 'get' | 'list'>,
  toolkit: string,
  args: JsonObject,
): Promise<DecisionTargets> {
  const named = await namedBy(queue, args);
  const targets =
    named ??
    (await queue.list({ states: ['pending'], toolkit, kind: 'call', order: 'oldest', limit: MAX_TARGETS }));
  const lines = targets.slice(0, MAX_LISTED).map((item) => `#${item.id} ${oneLine(item.summary)}`);
  const more = targets.length - lines.length;
  if (more > 0) lines.push(`… and ${more} more; see \`countersign approvals list\`.`);
  const [first] = targets;
  return {
    text: lines.length > 0 ? lines.join('\n') : 'Nothing is waiting.',
    command:
      named?.length === 1 && first
        ? `countersign approvals approve ${first.id}`
        : 'countersign approvals list',
    ids: new Set(targets.map(({ id }) => id)),
    about: stampOf(targets),
  };
}

/** The rows the arguments name by id or batch; undefined when the tool takes none and means everything that waits. */
async function namedBy(
  queue: Pick<ApprovalQueue, 'get' | 'list'>,
  args: JsonObject,
): Promise<Approval[] | undefined> {
  const ids = Object.entries(args).flatMap(([key, value]) =>
    /(^|_)id$/.test(key) && (typeof value === 'string' || typeof value === 'number') ? [value] : [],
  );
  if (ids.length === 0) return undefined;
  const named: Approval[] = [];
  for (const id of ids) {
    const one = await queue.get(id);
    if (one) named.push(one);
    else
      named.push(
        ...(await queue.list({
          groupId: String(id),
          states: ['pending'],
          order: 'oldest',
          limit: MAX_TARGETS,
        })),
      );
  }
  return named;
}

const stampOf = (targets: readonly Approval[]): string =>
  createHash('sha256')
    .update(JSON.stringify(targets.map(({ id, version, digest }) => [id, version, digest])))
    .digest('hex');

/** An agent words the summary: it must not be able to draw further lines into the person's dialog. */
const oneLine = (text: string): string => text.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 500);
