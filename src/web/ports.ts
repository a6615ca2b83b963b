import type { Inventory } from '../catalogue/inventory.ts';
import type { Modes } from '../contract/dialect.ts';
import type { JsonObject } from '../contract/json.ts';
import type { PasskeyMode } from '../contract/passkeys.ts';
import type { PolicyOverrides } from '../contract/policy.ts';
import type { KernelPorts, Log } from '../contract/ports.ts';
import type { Principal } from '../contract/principal.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Policy, PolicyInput } from '../kernel/policy/index.ts';
import type { Database } from '../kernel/store/database.ts';
import type { Holds } from './api/holds.ts';
import type { PasskeyPage, Snippet } from './routes/shapes.ts';

/** What the web application may use. Everything that acts goes through `kernel.invoke` or the approval queue. */
export interface WebPorts {
  readonly kernel: Kernel;
  readonly ports: KernelPorts;
  readonly inventory: Inventory;
  readonly database: Database;
  /** Approved calls that wait before they run; closed when the server stops. */
  readonly holds: Holds;
  readonly log: Log;
  readonly version: string;
  /** The enabled toolkits, in the order of the navigation. */
  readonly toolkits: readonly { readonly id: string; readonly title: string }[];
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
  /** What clients need to start a server of their own on this database, once for all that need the same. */
  snippets(token?: string): readonly Snippet[];
  /** The mode of the configuration file. */
  readonly passkeyMode: PasskeyMode;
  /** Whether passkeys work on the page that sent this request. */
  passkeyPage(request: Request): PasskeyPage;
  /** The state of this server in the text format of Prometheus. */
  metrics(): Promise<string>;
  /** May read the metrics without signing in; undefined where none is configured. */
  readonly scrapeToken: string | undefined;
  now(): Date;
}
