import { type Principal, principalName } from '../../contract/principal.ts';
import { isOfServer } from '../../contract/servers.ts';
import { closest } from '../../lib/text.ts';
import type { PolicySubject } from './types.ts';

/** `x_ads_*` against a name; without a star only the name itself fits. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  // The earliest place of each part leaves the most for those after it.
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** The names a policy may use, and what each stands for. */
export interface Catalogue {
  readonly subjects: readonly PolicySubject[];
  /** False while there are toolkits whose tools are not known yet. */
  readonly isComplete: boolean;
  find(name: string): PolicySubject | undefined;
  /** The tools a name or pattern stands for, or what is wrong with it. */
  tools(name: string): readonly PolicySubject[] | NameProblem;
  category(name: string): NameProblem | undefined;
  toolkit(name: string): NameProblem | undefined;
}

export interface NameProblem {
  readonly problem: string;
}

export const isNameProblem = (value: object | undefined): value is NameProblem =>
  value !== undefined && 'problem' in value;

/**
 * `expected`: toolkits whose tools are not known yet, such as a configured server before its first start. A name that can
 * only be one of theirs stands for nothing so far; the policy is compiled again when they are known.
 */
export function createCatalogue(
  subjects: readonly PolicySubject[],
  expected: readonly string[] = [],
): Catalogue {
  const byName = new Map<string, PolicySubject>();
  // A tool's own name wins over another tool's alias.
  for (const subject of subjects) {
    for (const name of namesOf(subject).slice(1)) byName.set(name, subject);
  }
  for (const subject of subjects) byName.set(subject.name, subject);
  const categories = new Set(subjects.map(({ category }) => category));
  const toolkits = new Set([...subjects.map(({ toolkit }) => toolkit), ...expected]);
  const isExpected = (name: string): boolean =>
    expected.some((id) => name.startsWith(`${id}__`) || name.startsWith(`${id}.`));

  return {
    subjects,
    isComplete: expected.length === 0,
    find: (name) => byName.get(name),
    tools(name) {
      if (name.includes('*')) {
        const found = subjects.filter((subject) => namesOf(subject).some((one) => matchesPattern(name, one)));
        return found.length > 0 || expected.length > 0
          ? found
          : { problem: `no tool matches the pattern '${name}'` };
      }
      const found = byName.get(name);
      if (found) return [found];
      return isExpected(name) ? [] : unknownName('tool', name, byName.keys());
    },
    category: (name) =>
      categories.has(name) || (expected.length > 0 && isOfServer(name))
        ? undefined
        : unknownName('category', name, categories),
    toolkit: (name) => (toolkits.has(name) ? undefined : unknownName('toolkit', name, toolkits)),
  };
}

export const namesOf = ({ name, policyName, aliases }: PolicySubject): readonly string[] => [
  name,
  ...(policyName === undefined ? [] : [policyName]),
  ...(aliases ?? []),
];

function unknownName(kind: string, name: string, known: Iterable<string>): NameProblem {
  const meant = closest(name, known);
  return { problem: `unknown ${kind} '${name}'${meant === undefined ? '' : `; did you mean '${meant}'?`}` };
}

const KINDS: readonly string[] = ['agent', 'person', 'system'];

/** `agent` and `agent:*` are any agent, `agent:NAME` is one, `*` is anyone. */
export function checkPrincipal(pattern: string): NameProblem | undefined {
  if (pattern === '*') return undefined;
  const [kind = '', ...rest] = pattern.split(':');
  if (!KINDS.includes(kind)) return unknownName('kind of principal', kind, KINDS);
  if (pattern.includes(':') && rest.join(':') === '')
    return { problem: `'${pattern}' has no name after the colon` };
  return undefined;
}

export const matchesPrincipal = (pattern: string, who: Principal): boolean =>
  pattern === '*' || pattern === who.kind || matchesPattern(pattern, principalName(who));

/** The same for several patterns together; most name a kind or one principal, which a set answers. */
export function compilePrincipals(patterns: readonly string[]): (who: Principal, name: string) => boolean {
  const plain = new Set(patterns.map((pattern) => pattern.replace(/:\*$/, '')));
  if (plain.has('*')) return () => true;
  const open = [...plain].filter((pattern) => pattern.includes('*'));
  return (who, name) =>
    plain.has(who.kind) || plain.has(name) || open.some((pattern) => matchesPattern(pattern, name));
}

export interface PolicyProblem {
  /** Keys from the top of the configuration: `['mcp_policy', 'rules', 0, 'tools', 1]`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** The rule it is about. */
  readonly rule?: string;
}

/** Everything that is wrong with a policy, in one error. A policy with a mistake is never half in force. */
export class PolicyError extends Error {
  readonly problems: readonly PolicyProblem[];

  constructor(problems: readonly PolicyProblem[]) {
    super(problems.map(({ path, message }) => `${formatPath(path)}: ${message}`).join('\n'));
    this.name = 'PolicyError';
    this.problems = problems;
  }
}

function formatPath(path: PolicyProblem['path']): string {
  let text = '';
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : `${text ? '.' : ''}${part}`;
  return text;
}
