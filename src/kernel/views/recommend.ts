import { setImmediate } from 'node:timers/promises';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { parsePrincipal, principalName } from '../../contract/principal.ts';
import type { ArgumentPredicate, StandingDraft } from '../../contract/standing.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import { linksIn } from '../../lib/links.ts';
import { lookup } from '../../lib/lookup.ts';
import { standingSentence } from '../approvals/predicates.ts';
import { alwaysAsks } from '../approvals/standing.ts';
import type { Kernel } from '../kernel.ts';
import { parseObject } from '../store/cells.ts';
import type { Database } from '../store/database.ts';
import { findDiffering } from './approval-evidence.ts';
import type { Recommendation, RecommendationsData } from './policy-shapes.ts';

const DAY_MS = 86_400_000;
const SINCE_DAYS = 90;
/** So many decisions are read, newest first. */
const MOST = 5_000;
/** People must have decided the same way at least so often. */
const ENOUGH = 10;
const LISTED = 5;
const MAX_VALUES = 5;
const MAX_HOSTS = 10;

export interface RecommendPorts {
  readonly database: Database;
  readonly standing: Kernel['standing'];
  readonly signersFor: Kernel['signersFor'];
  resolve(tool: string): Promise<BoundTool | undefined>;
  readonly now: Date;
}

interface Decided {
  readonly id: number;
  readonly uuid: string;
  readonly version: number;
  readonly state: string;
  readonly edited: boolean;
  readonly summary: string;
  readonly args: JsonObject;
  readonly created_at: string;
}

interface Group {
  readonly agent: string;
  readonly tool: string;
  readonly decided: Decided[];
  /** Not every decision of it can be read. */
  isDamaged: boolean;
}

/**
 * What people always decided the same way: a standing approval where they always approved, a rule that denies where they
 * always rejected. Nothing is proposed for calls that destroy, move money or need a signature, nor where the row of a
 * decision is not what the audit log has: leaving it out could hide the one that was decided otherwise.
 */
export async function recommend(ports: RecommendPorts): Promise<RecommendationsData> {
  const { groups, lookedAt, since } = await readGroups(ports);
  const active = (await ports.standing.list()).filter(({ state }) => state === 'active');
  const found: Recommendation[] = [];
  for (const group of groups) {
    await setImmediate();
    const counts = countsOf(group.decided);
    if (group.isDamaged || counts.asked < ENOUGH || !isUnanimous(counts)) continue;
    const bound = await ports.resolve(group.tool);
    if (!bound || (await isGrave(ports, bound, group))) continue;
    if ((await findDiffering(ports.database, group.decided)).size > 0) continue;
    const evidence = {
      ...counts,
      since,
      approvals: group.decided.slice(0, LISTED).map(({ id }) => id),
    };
    if (counts.approved === counts.asked) {
      const draft = draftFor(group, ports.now);
      if (!draft) continue;
      const isCovered = active.some(({ agent, tool }) => agent === group.agent && tool === group.tool);
      if (!isCovered && (await ports.standing.test(draft)).rejected === 0)
        found.push({
          ...wordsOf(group, bound),
          kind: 'standing',
          sentence: standingSentence(draft),
          evidence,
          draft,
          rule: null,
        });
    } else {
      found.push({ ...wordsOf(group, bound), kind: 'rule', ...denyRule(group), evidence, draft: null });
    }
  }
  const weight = ({ evidence }: Recommendation): number => evidence.asked;
  return { recommendations: found.sort((a, b) => weight(b) - weight(a)), looked_at: lookedAt };
}

async function readGroups({ database, now }: RecommendPorts) {
  const since = new Date(now.getTime() - SINCE_DAYS * DAY_MS).toISOString();
  const rows = await database.db
    .selectFrom('approvals as a')
    .select((eb) => [
      'a.id',
      'a.uuid',
      'a.version',
      'a.state',
      'a.summary',
      'a.args',
      'a.requester',
      'a.tool',
      'a.created_at',
      eb
        .exists(
          eb.selectFrom('approval_edits as e').select('e.approval_id').whereRef('e.approval_id', '=', 'a.id'),
        )
        .as('edited'),
    ])
    .where('a.kind', '=', 'call')
    .where('a.state', 'in', DECIDED)
    .where('a.requester', 'like', 'agent:%')
    .where('a.created_at', '>=', since)
    .orderBy('a.id', 'desc')
    .limit(MOST)
    .execute();
  const groups = new Map<string, Group>();
  for (const { requester, tool, edited, args: stored, ...row } of rows) {
    const args = parseObject(stored);
    const key = `${requester}\n${tool}`;
    const group = groups.get(key) ?? { agent: requester, tool, decided: [], isDamaged: false };
    if (args) group.decided.push({ ...row, edited: Boolean(edited), args });
    else group.isDamaged = true;
    groups.set(key, group);
  }
  return { groups: [...groups.values()], lookedAt: rows.length, since };
}

const DECIDED = ['approved', 'executing', 'done', 'failed', 'indeterminate', 'rejected'] as const;

const countsOf = (decided: readonly Decided[]) => {
  const rejected = decided.filter(({ state }) => state === 'rejected').length;
  const edited = decided.filter(({ state, edited: was }) => was && state !== 'rejected').length;
  return { asked: decided.length, approved: decided.length - rejected - edited, edited, rejected };
};

const isUnanimous = ({ asked, approved, rejected }: ReturnType<typeof countsOf>): boolean =>
  approved === asked || rejected === asked;

/** Destructive, money-moving and signed calls are decided one by one. */
async function isGrave(
  { signersFor }: RecommendPorts,
  bound: BoundTool,
  { agent, decided }: Group,
): Promise<boolean> {
  const requester = parsePrincipal(agent);
  if (!requester) return true;
  for (const { args } of decided.slice(0, LISTED)) {
    if ((await signersFor({ bound, args, requester })) > 0) return true;
  }
  return decided.some(({ args }) => alwaysAsks(bound.tool, args) !== undefined);
}

const wordsOf = ({ agent, tool, decided }: Group, bound: BoundTool) => ({
  agent,
  tool,
  title: decided[0]?.summary === '(erased)' ? bound.tool.title : (decided[0]?.summary ?? bound.tool.title),
});

/**
 * Of each argument as much as all calls had in common; what people saw vary may vary within the same bounds. Undefined where
 * an argument was left out at times: only `any` covers a call without it, and people did not see any value.
 */
function draftFor({ agent, tool, decided }: Group, now: Date): StandingDraft | undefined {
  const names = [...new Set(decided.flatMap(({ args }) => Object.keys(args)))].sort();
  if (decided.some(({ args }) => names.some((name) => !Object.hasOwn(args, name)))) return undefined;
  return {
    agent,
    tool,
    predicates: names.map((arg) =>
      predicateFor(
        arg,
        decided.map(({ args }) => lookup(args, arg) ?? null),
      ),
    ),
    until: new Date(now.getTime() + 7 * DAY_MS).toISOString(),
    uses: Math.min(100, Math.max(10, decided.length)),
  };
}

function predicateFor(arg: string, values: readonly JsonValue[]): ArgumentPredicate {
  const distinct = [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
  const [first] = distinct;
  if (distinct.length === 1 && first !== undefined) return { arg, op: 'equals', value: first };
  if (distinct.length <= MAX_VALUES) return { arg, op: 'one_of', values: distinct };
  if (distinct.every((value) => typeof value === 'number'))
    return { arg, op: 'at_most', number: Math.max(...distinct) };
  if (distinct.every((value) => typeof value === 'string')) {
    const hosts = [...new Set(distinct.flatMap((text) => linksIn(text)))];
    const plain = hosts.filter((host) => host !== null);
    if (plain.length === hosts.length && hosts.length <= MAX_HOSTS)
      return { arg, op: 'links_only', hosts: plain.sort() };
  }
  // Nothing in common: only what was approved before.
  return { arg, op: 'one_of', values: distinct.slice(0, 50) };
}

function denyRule({ agent, tool, decided }: Group): Pick<Recommendation, 'sentence' | 'rule'> {
  const name = agent.replace(/^agent:/u, '');
  const id = `no-${tool}-${name}`.replace(/[^\w.-]/gu, '-');
  const label = `People rejected ${decided.length} of ${decided.length} calls of ${tool} by ${name}`;
  return {
    sentence: `Deny ${name} calls of ${tool} instead of asking each time.`,
    rule: { id, label, tools: [tool], principals: [principalOf(agent)], action: 'deny' },
  };
}

const principalOf = (agent: string): string => {
  const principal = parsePrincipal(agent);
  return principal ? principalName(principal) : agent;
};
