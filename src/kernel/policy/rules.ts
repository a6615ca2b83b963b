import { type PolicyRule, type PolicySchedule, WEEKDAYS } from '../../contract/policy.ts';
import type { Principal } from '../../contract/principal.ts';
import { QUESTION_MARK } from '../../contract/servers.ts';
import { isChange } from '../../contract/tool.ts';
import {
  type Catalogue,
  checkPrincipal,
  compilePrincipals,
  isNameProblem,
  matchesPattern,
  type NameProblem,
  namesOf,
  type PolicyProblem,
} from './catalogue.ts';
import type { Condition, ConditionCompiler } from './conditions.ts';
import type { CallSubject, PolicySubject, StepSource } from './types.ts';

export type InWindow = (now: Date) => boolean;

/** A window that ends at or before it starts passes midnight and belongs to the day on which it opened. */
export function compileSchedule({ start, end, timezone, days }: PolicySchedule): InWindow {
  const from = minutes(start);
  const to = minutes(end);
  const open = WEEKDAYS.map((day) => days.includes(day));
  const local = localClock(timezone);
  return (now) => {
    const { day, minute } = local(now);
    if (from < to) return open[day] === true && minute >= from && minute < to;
    return (open[day] === true && minute >= from) || (open[(day + 6) % 7] === true && minute < to);
  };
}

interface LocalTime {
  /** 0 is Monday. */
  readonly day: number;
  readonly minute: number;
}

const clocks = new Map<string, (now: Date) => LocalTime>();

/** Asking the time zone costs more than all rules together, so the answer is kept for the minute. */
function localClock(timezone: string): (now: Date) => LocalTime {
  const known = clocks.get(timezone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  let keptMinute = Number.NaN;
  let kept: LocalTime = { day: 0, minute: 0 };
  const clock = (now: Date): LocalTime => {
    const minute = Math.floor(now.getTime() / 60_000);
    if (minute !== keptMinute) {
      const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
      const weekday: readonly string[] = WEEKDAYS;
      kept = {
        day: weekday.indexOf(parts.get('weekday') ?? ''),
        minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
      };
      keptMinute = minute;
    }
    return kept;
  };
  clocks.set(timezone, clock);
  return clock;
}

function minutes(time: string): number {
  const [hour, minute] = time.split(':');
  return Number(hour) * 60 + Number(minute);
}

/** A rule ready to be asked. What depends on the tool alone is settled per tool, the rest per call. */
export interface CompiledRule {
  readonly id: string;
  readonly source: StepSource;
  readonly action: PolicyRule['action'];
  readonly label: string | undefined;
  readonly reason: string | undefined;
  /** It names the sampling of servers, and not only their tools in general. */
  readonly allowsSampling: boolean;
  /** How many people must sign the decision; 0: none. */
  readonly signers: number;
  matches(subject: CallSubject): boolean;
  /** Undefined: any principal. */
  readonly isAbout: ((who: Principal, name: string) => boolean) | undefined;
  readonly inWindow: InWindow | undefined;
  readonly condition: Condition | undefined;
}

export interface RuleContext {
  readonly catalogue: Catalogue;
  readonly mode: string;
  readonly conditions: ConditionCompiler | undefined;
  readonly problems: PolicyProblem[];
}

/** Compiles one of the user's rules; what is wrong with it is added to the problems. */
export function compileRule(
  rule: PolicyRule,
  path: PolicyProblem['path'],
  context: RuleContext,
): CompiledRule {
  const { catalogue, problems } = context;
  const report = (key: string, names: readonly string[] | undefined, check: NameCheck): void => {
    names?.forEach((name, index) => {
      const found = check(name);
      if (isNameProblem(found)) problems.push({ path: [...path, key, index], message: found.problem });
    });
  };
  const before = problems.length;
  report('tools', rule.tools, catalogue.tools);
  report('categories', rule.categories, catalogue.category);
  report('toolkits', rule.toolkits, catalogue.toolkit);
  report('principals', rule.principals, checkPrincipal);

  const matches = matcherOf(rule, catalogue);
  const matched = catalogue.subjects.filter(matches);
  const isAwaited = matched.length === 0 && !catalogue.isComplete;
  const futile = isAwaited ? undefined : ineffectiveReason(rule, matched);
  // A mistyped name explains why nothing matches; saying that too would only distract.
  const isNamed = problems.length === before;
  if (isNamed && futile !== undefined) problems.push({ path, message: futile });
  return {
    id: rule.id,
    source: 'rule',
    action: rule.action,
    label: rule.label,
    reason: rule.reason,
    allowsSampling:
      rule.categories?.includes('sampling') === true ||
      rule.tools?.some((name) => name.includes(QUESTION_MARK)) === true,
    signers: rule.signers ?? (rule.signed ? 1 : 0),
    matches: (subject) => !isAwaited && isInMode(rule, context.mode) && matches(subject),
    isAbout: rule.principals && compilePrincipals(rule.principals),
    inWindow: rule.schedule && compileSchedule(rule.schedule),
    condition: isNamed && !isAwaited ? compileWhen(rule, path, matched, context) : undefined,
  };
}

/** A template's rules name only what toolkit x has; where that toolkit is absent they match nothing. */
export const compileTemplateRule = (rule: PolicyRule, template: string): CompiledRule => ({
  id: `template:${template}:${rule.id}`,
  source: 'template',
  action: rule.action,
  label: rule.label,
  reason: rule.reason,
  allowsSampling: false,
  signers: 0,
  matches: matcherOf(rule, undefined),
  isAbout: undefined,
  inWindow: undefined,
  condition: undefined,
});

type NameCheck = (name: string) => NameProblem | readonly unknown[] | undefined;

const isInMode = ({ modes }: PolicyRule, mode: string): boolean =>
  modes === undefined || modes.some((one) => one === mode);

/** All kinds of matcher must fit, and within a kind any. A rule that names nothing evaluates changes. */
function matcherOf(rule: PolicyRule, catalogue: Catalogue | undefined): (subject: CallSubject) => boolean {
  const { tools, categories, toolkits, effects } = rule;
  if (!tools && !categories && !toolkits && !effects) return ({ effect }) => isChange(effect);
  return (subject) =>
    (!effects || effects.includes(subject.effect)) &&
    (!toolkits || toolkits.includes(subject.toolkit)) &&
    (!categories || categories.includes(subject.category)) &&
    (!tools || tools.some((pattern) => namesTool(pattern, subject, catalogue)));
}

export function namesTool(pattern: string, subject: CallSubject, catalogue: Catalogue | undefined): boolean {
  const known = catalogue?.find(subject.name);
  // Without a star a name stands for one tool only, even where two tools share an alias.
  if (!pattern.includes('*'))
    return pattern === subject.name || (known !== undefined && catalogue?.find(pattern) === known);
  return (known ? namesOf(known) : [subject.name]).some((name) => matchesPattern(pattern, name));
}

/** Why a rule could never match, which is always a mistake. */
function ineffectiveReason(rule: PolicyRule, matched: readonly PolicySubject[]): string | undefined {
  const names = rule.tools ?? rule.categories ?? rule.toolkits ?? rule.effects;
  if (names === undefined) return undefined;
  if (matched.length === 0)
    return `rule '${rule.id}' matches no tool: its tools, categories, toolkits and effects have none in common`;
  if ((rule.action === 'ask' || rule.action === 'dry_run') && matched.every(isProposalOrDecision)) {
    return `rule '${rule.id}' has no effect: proposals and decisions never require approval or become dry runs; use deny`;
  }
  return undefined;
}

/** Filing a suggestion or deciding on one: only a deny can stop it. */
export const isProposalOrDecision = ({ effect }: CallSubject): boolean =>
  effect === 'propose' || effect === 'decide';

function compileWhen(
  rule: PolicyRule,
  path: PolicyProblem['path'],
  matched: readonly PolicySubject[],
  { conditions, problems }: RuleContext,
): Condition | undefined {
  if (rule.when === undefined || !conditions) return undefined;
  const condition = conditions.compile(rule.when, matched);
  if (typeof condition === 'function') return condition;
  for (const message of condition) problems.push({ path: [...path, 'when'], message });
  return undefined;
}
