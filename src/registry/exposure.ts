import type { Profile } from '../contract/profile.ts';
import { createDiscovery } from './discovery.ts';
import { type Inventory, noSuchToolkit, type OwnedTool } from './inventory.ts';

export interface ExposureOptions {
  readonly toolkits: readonly string[];
  readonly profile: Profile;
  readonly discovery: boolean;
}

/**
 * What one session is shown and may call by name. Being hidden is convenience; the pipeline is the guard. Names are known
 * from the catalogue: a toolkit is loaded when one of its tools is first looked at, which a listing does not need.
 */
export interface Exposure {
  readonly options: ExposureOptions;
  /** What `tools/list` shows, in a fixed order. */
  readonly names: readonly string[];
  /** Whether one of them may take so long that a task is better than waiting. */
  readonly mayTakeLong: boolean;
  /** The tools behind the names. */
  listed(): Promise<readonly OwnedTool[]>;
  /** Unknown and hidden look the same. */
  find(name: string): Promise<OwnedTool | undefined>;
  /** Also what is not listed, but found by search. */
  reach(name: string): Promise<OwnedTool | undefined>;
}

export function createExposure(inventory: Inventory, options: ExposureOptions): Exposure {
  const ids = withBrought(inventory, options.toolkits);
  const offered = [...ids].flatMap((id) =>
    inventory.catalogue.filter(
      ({ name, toolkit, profiles }) =>
        toolkit === id && profiles.includes(options.profile) && !inventory.withheld.has(name),
    ),
  );
  const names = offered.map(({ name }) => name);
  const known = new Set(names);
  const reach = async (name: string) => (known.has(name) ? inventory.resolve(name) : undefined);
  const reachable = async () => (await Promise.all(names.map(reach))).filter((owned) => owned !== undefined);
  const shared = { options, mayTakeLong: offered.some((entry) => entry.mayTakeLong), reach };
  if (!options.discovery) return { ...shared, names, listed: reachable, find: reach };
  const metaTools = createDiscovery(reachable);
  return {
    ...shared,
    names: metaTools.map(({ tool }) => tool.name),
    listed: async () => metaTools,
    find: async (name) => metaTools.find(({ tool }) => tool.name === name),
  };
}

function withBrought(inventory: Inventory, ids: readonly string[]): Set<string> {
  const all = new Set<string>();
  for (const id of ids) {
    const source = inventory.sources.find((one) => one.id === id);
    if (!source) throw noSuchToolkit(id, inventory.sources);
    all.add(id);
    for (const brought of source.brings ?? []) all.add(brought);
  }
  return all;
}
