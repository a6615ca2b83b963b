import { AsyncLocalStorage } from 'node:async_hooks';
import { ToolFault } from '../../../contract/faults.ts';

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
    throw new ToolFault(
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
