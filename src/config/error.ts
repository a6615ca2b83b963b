export interface ConfigProblem {
  /** Where it stands: `config.toml:12`, `environment COUNTERSIGN_MODE`, `flag --profile`. */
  readonly source: string;
  /** The key as dotted path, `mcp_policy.rules[0].action`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

/** Everything that is wrong with the configuration, at once. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const formatProblem = ({ source, path, message }: ConfigProblem): string =>
  [source, path, message].filter(Boolean).join(': ');
