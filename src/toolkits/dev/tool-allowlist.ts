import { AsyncLocalStorage } from 'node:async_hooks';
import { ToolError } from '../../contract/errors.ts';
import type { AllowlistReading, NamedTool } from '../../contract/policy.ts';
import { closest } from '../../lib/text.ts';

/** The documented TOOL_ALLOWLIST: where it is set, a tool it does not name is refused. Unset, policy alone decides. */
export class ToolAllowlist {
  readonly #names: ReadonlySet<string> | undefined;
  readonly #covered = new AsyncLocalStorage<string>();

  constructor(names: readonly string[] | undefined) {
    this.#names = names && new Set(names);
  }

  check(tool: string, policyName: string): void {
    if (!this.#names || this.#names.has(policyName) || this.#names.has(tool)) return;
    if (this.#covered.getStore() === policyName) return;
    throw new ToolError(
      'not_allowed',
      `TOOL_ALLOWLIST does not name ${policyName}, so ${tool} may not be used.`,
      {
        detail: { reason: 'tool_not_allowed', tool: policyName },
      },
    );
  }

  /** A batch that is allowed covers the single calls it is made of. */
  covering<T>(policyName: string, work: () => Promise<T>): Promise<T> {
    return this.#covered.run(policyName, work);
  }
}

/** Comma separated, as ToolHub wrote its lists; undefined when the variable is not set at all. */
export const listOf = (value: string | undefined): string[] | undefined =>
  value
    ?.split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Names of later versions of ToolHub: a list written for them allows nothing more here, and is not a mistake. */
const FOREIGN = new Set(['code.repair_loop', 'code_repair_loop']);

/** What the allowlist does to listings: names it leaves out, and names in it that no tool has. */
export function readAllowlist(
  tools: readonly NamedTool[],
  configured: readonly string[] | undefined,
  env: Readonly<Record<string, string | undefined>>,
): AllowlistReading {
  const fromEnvironment = listOf(env.TOOL_ALLOWLIST);
  const names = fromEnvironment ?? configured;
  const source = fromEnvironment ? 'environment TOOL_ALLOWLIST' : 'dev.tool_allowlist';
  if (!names) return { hidden: [], unknown: [], source };
  const known = tools.flatMap(({ name, policyName }) => [name, policyName ?? name]);
  const unknown = names
    .filter((name) => !known.includes(name) && !FOREIGN.has(name))
    .map((name) => {
      const near = closest(name, known);
      return `Tool ${JSON.stringify(name)} not found${near === undefined ? '' : `; did you mean ${near}?`}`;
    });
  const listed = new Set(names);
  const hidden = tools
    // Without a run no other tool could be used, so this one is always allowed.
    .filter(({ name }) => name !== 'runs_create')
    .filter(({ name, policyName }) => !listed.has(name) && !listed.has(policyName ?? name))
    .map(({ name }) => name);
  return { hidden, unknown, source };
}
