/**
 * What clients set in the shell of their agent and not in a person's. A name that ends with `_` stands for all that begin
 * with it, but for those that people set themselves.
 */
const AGENT_SHELLS: readonly string[] = [
  'AI_AGENT',
  'AUGMENT_AGENT',
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_SESSION_ID',
  'CLINE_ACTIVE',
  'CODEX_',
  'CURSOR_AGENT',
  'GEMINI_CLI',
  'GOOSE_TERMINAL',
  'OPENCODE',
];
const SET_BY_PEOPLE: ReadonlySet<string> = new Set([
  'CODEX_ACCESS_TOKEN',
  'CODEX_API_KEY',
  'CODEX_CA_CERTIFICATE',
  'CODEX_HOME',
  'CODEX_SQLITE_HOME',
]);
const UNSET: ReadonlySet<string> = new Set(['', '0', 'false']);

/** The variable that shows that an AI agent runs this command; undefined where none does. */
export const findAgentVariable = (env: Readonly<Record<string, string | undefined>>): string | undefined =>
  Object.entries(env).find(
    ([name, value]) =>
      !UNSET.has(value ?? '') &&
      !SET_BY_PEOPLE.has(name) &&
      AGENT_SHELLS.some((one) => (one.endsWith('_') ? name.startsWith(one) : name === one)),
  )?.[0];
