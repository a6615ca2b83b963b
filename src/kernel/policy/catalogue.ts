import { closest } from '../../lib/closest.ts';
import { matchesPattern } from './pattern.ts';
import type { PolicySubject } from './types.ts';

/** The names a policy may use, and what each stands for. */
export interface Catalogue {
  readonly subjects: readonly PolicySubject[];
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

export function createCatalogue(subjects: readonly PolicySubject[]): Catalogue {
  const byName = new Map<string, PolicySubject>();
  // A tool's own name wins over another tool's alias.
  for (const subject of subjects) {
    for (const name of namesOf(subject).slice(1)) byName.set(name, subject);
  }
  for (const subject of subjects) byName.set(subject.name, subject);
  const categories = new Set(subjects.map(({ category }) => category));
  const toolkits = new Set(subjects.map(({ toolkit }) => toolkit));

  return {
    subjects,
    find: (name) => byName.get(name),
    tools(name) {
      if (name.includes('*')) {
        const found = subjects.filter((subject) => namesOf(subject).some((one) => matchesPattern(name, one)));
        return found.length > 0 ? found : { problem: `no tool fits the pattern '${name}'` };
      }
      const found = byName.get(name);
      return found ? [found] : unknownName('tool', name, byName.keys());
    },
    category: (name) => (categories.has(name) ? undefined : unknownName('category', name, categories)),
    toolkit: (name) => (toolkits.has(name) ? undefined : unknownName('toolkit', name, toolkits)),
  };
}

export const namesOf = ({ name, policyName, aliases }: PolicySubject): readonly string[] => [
  name,
  ...(policyName === undefined ? [] : [policyName]),
  ...(aliases ?? []),
];

export function unknownName(kind: string, name: string, known: Iterable<string>): NameProblem {
  const meant = closest(name, known);
  return { problem: `unknown ${kind} '${name}'${meant === undefined ? '' : `; did you mean '${meant}'?`}` };
}
