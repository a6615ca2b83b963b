import type { ToolkitCommands } from './command.ts';
import type { ConfigSection } from './config.ts';
import type { Migration } from './migration.ts';
import type { ToolkitPolicy } from './policy.ts';
import type { Effect, Profile } from './tool.ts';
import type { Prompt, Toolkit } from './toolkit.ts';

/** What is known about a tool without loading its toolkit. */
export interface CatalogueEntry {
  readonly name: string;
  readonly toolkit: string;
  readonly category: string;
  readonly effect: Effect;
  readonly profiles: readonly Profile[];
  readonly policyName?: string;
  readonly mayTakeLong?: boolean;
}

/** A toolkit of this build as `npm run gen` found it: the core learns of toolkits from these entries alone. */
export interface ToolkitEntry {
  readonly id: string;
  readonly title: string;
  /** Place among the toolkits that are enabled by default; without one it is not. */
  readonly rank?: number;
  readonly brings: readonly string[];
  readonly actsAs: readonly string[];
  /** Environment variable with the TCP address that `countersign up` and `mcp serve` listen on. */
  readonly listenEnv?: string;
  readonly sections: readonly ConfigSection[];
  readonly policy: ToolkitPolicy | undefined;
  readonly prompts: readonly Prompt[];
  readonly commands: ToolkitCommands | undefined;
  /** Names are enough to see that a database has them all. */
  readonly migrationNames: readonly string[];
  migrations(): Promise<readonly Migration[]>;
  load(): Promise<Toolkit>;
  readonly catalogue: readonly CatalogueEntry[];
}
