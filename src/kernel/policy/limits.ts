import type { LimitDimension, PolicyLimit } from '../../contract/policy.ts';
import { type Principal, principalName } from '../../contract/principal.ts';
import { isChange } from '../../contract/tool.ts';
import {
  type Catalogue,
  checkPrincipal,
  isNameProblem,
  matchesPattern,
  matchesPrincipal,
  type NameProblem,
  type PolicyProblem,
} from './catalogue.ts';
import { namesTool } from './rules.ts';
import type { Template } from './templates.ts';
import type { CallSubject, Limit } from './types.ts';

const HOURLY = 'max_mutations_per_hour';

/** Only where it is written: a limit meant for an X account must not stop a researcher at the 21st coding. */
export const hourlyLimit = (max: number | undefined): readonly Limit[] =>
  max === undefined ? [] : [{ key: HOURLY, max, periodSeconds: 3_600, dimension: 'global', match: '*' }];

export const templateLimits = ({ name, limits }: Template): readonly Limit[] =>
  limits.map((limit) => ({ ...toLimit(limit), key: `template:${name}:${limit.key}` }));

/** Checks the user's limits; every name must stand for something. */
export function compileLimits(
  limits: readonly PolicyLimit[],
  catalogue: Catalogue,
  problems: PolicyProblem[],
): readonly Limit[] {
  limits.forEach(({ key, dimension, match }, index) => {
    const path = ['mcp_policy', 'limits', index] as const;
    if (key === HOURLY)
      problems.push({ path: [...path, 'key'], message: `'${HOURLY}' is taken; choose another key` });
    const first = limits.findIndex((other) => other.key === key);
    if (first < index)
      problems.push({
        path: [...path, 'key'],
        message: `limit '${key}' already exists, as number ${first + 1}`,
      });
    const wrong = match === '*' ? undefined : CHECKS[dimension](match, catalogue);
    if (wrong) problems.push({ path: [...path, 'match'], message: wrong.problem });
  });
  return limits.map(toLimit);
}

const toLimit = ({ key, max, period_seconds, dimension, match }: PolicyLimit): Limit => ({
  key,
  max,
  periodSeconds: period_seconds,
  dimension,
  match,
});

const CHECKS: Readonly<
  Record<LimitDimension, (match: string, catalogue: Catalogue) => NameProblem | undefined>
> = {
  tool: (match, { tools }) => {
    const found = tools(match);
    return isNameProblem(found) ? found : undefined;
  },
  category: (match, { category }) => category(match),
  toolkit: (match, { toolkit }) => toolkit(match),
  principal: checkPrincipal,
  global: (match) => ({ problem: `a global limit counts everything; '${match}' cannot be matched` }),
};

/** The counters a call of this tool by this principal counts in. Only changes count. */
export function countedBy(
  limits: readonly Limit[],
  subject: CallSubject,
  principal: Principal,
  catalogue: Catalogue,
): readonly Limit[] {
  if (!isChange(subject.effect)) return [];
  return limits.flatMap((limit) => {
    const value = VALUES[limit.dimension](subject, principal);
    const matches =
      limit.dimension === 'tool'
        ? namesTool(limit.match, subject, catalogue)
        : limit.dimension === 'principal'
          ? matchesPrincipal(limit.match, principal)
          : matchesPattern(limit.match, value);
    if (!matches) return [];
    // An open match counts each tool, category or principal separately.
    return [isOpen(limit) ? { ...limit, key: `${limit.key}:${value}` } : limit];
  });
}

function isOpen({ dimension, match }: Limit): boolean {
  if (dimension === 'global') return false;
  // `agent` alone means any agent.
  return match.includes('*') || (dimension === 'principal' && !match.includes(':'));
}

const VALUES: Readonly<Record<LimitDimension, (subject: CallSubject, principal: Principal) => string>> = {
  tool: ({ name }) => name,
  category: ({ category }) => category,
  toolkit: ({ toolkit }) => toolkit,
  principal: (_, principal) => principalName(principal),
  global: () => '*',
};

/** Windows are aligned to the epoch, so that every process and node counts in the same one. */
export const windowStart = (limit: Pick<Limit, 'periodSeconds'>, now: Date): number =>
  Math.floor(now.getTime() / 1000 / limit.periodSeconds) * limit.periodSeconds;
