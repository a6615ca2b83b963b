export interface PolicyProblem {
  /** Keys from the top of the configuration: `['mcp_policy', 'rules', 0, 'tools', 1]`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Everything that is wrong with a policy, at once. A policy with a mistake is never half in force. */
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
