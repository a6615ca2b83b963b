import type { Profile } from '../contract/profile.ts';
import { createDiscovery } from './discovery.ts';
import type { Inventory, OwnedTool } from './inventory.ts';

export interface ExposureOptions {
  readonly toolkits: readonly string[];
  readonly profile: Profile;
  readonly discovery: boolean;
}

/** What one session is shown and may call by name. Being hidden is convenience; the pipeline is the guard. */
export interface Exposure {
  readonly options: ExposureOptions;
  /** What `tools/list` shows, in a fixed order. */
  readonly listed: readonly OwnedTool[];
  /** Every tool of the profile, whether listed or only found by search. */
  readonly reachable: readonly OwnedTool[];
  /** Unknown and hidden look the same. */
  find(name: string): OwnedTool | undefined;
}

export async function createExposure(inventory: Inventory, options: ExposureOptions): Promise<Exposure> {
  const reachable: OwnedTool[] = [];
  for (const id of withBrought(inventory, options.toolkits)) {
    const { tools } = await inventory.load(id);
    reachable.push(...tools.filter(({ tool }) => tool.profiles.includes(options.profile)));
  }
  const listed = options.discovery ? createDiscovery(reachable) : reachable;
  const byName = new Map(listed.map((owned) => [owned.tool.name, owned]));
  return { options, listed, reachable, find: (name) => byName.get(name) };
}

function withBrought(inventory: Inventory, ids: readonly string[]): Set<string> {
  const all = new Set<string>();
  for (const id of ids) {
    all.add(id);
    for (const brought of inventory.sources.find((source) => source.id === id)?.brings ?? [])
      all.add(brought);
  }
  return all;
}
