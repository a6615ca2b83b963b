import type { JsonObject } from '../contract/json.ts';
import type { KernelPorts, Log } from '../contract/ports.ts';
import type { Principal } from '../contract/principal.ts';
import type { Database } from '../kernel/database.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Policy, PolicyInput } from '../kernel/policy/index.ts';
import type { PolicyOverrides } from '../kernel/policy-in-force.ts';
import type { Inventory } from '../registry/inventory.ts';
import type { Modes } from '../render/dialect.ts';

/** What the web application may use. Everything that acts goes through `kernel.invoke` or the approval queue. */
export interface WebPorts {
  readonly kernel: Kernel;
  readonly ports: KernelPorts;
  readonly inventory: Inventory;
  readonly database: Database;
  readonly log: Log;
  readonly version: string;
  readonly toolkits: readonly string[];
  readonly profile: string;
  /** Where the built pages are; undefined when this build has none. */
  readonly assets: string | undefined;
  policy(): Policy;
  modes(): Modes;
  overrides(): Promise<PolicyOverrides>;
  /** Checks, stores and puts the overrides in force; throws what is wrong with them. */
  setOverrides(overrides: PolicyOverrides, by: Principal): Promise<void>;
  /** What the policy in force was compiled from, to see what a candidate rule would change. */
  policyInput(): Promise<PolicyInput>;
  exportRun(run: string): Promise<JsonObject | undefined>;
  /** The public keys that sign, or once signed, for the log. */
  logKeys(): Promise<readonly string[]>;
  /** How an agent's program starts its own server on this store. */
  readonly agentCommand: {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
  now(): Date;
}
