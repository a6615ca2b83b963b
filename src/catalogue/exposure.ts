import type { Profile } from '../contract/tool.ts';
import type { BoundTool } from '../contract/toolkit.ts';
import { createDiscovery } from './discovery.ts';
import { type Inventory, noSuchToolkit } from './inventory.ts';

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
  /** What can be called: the names, or in discovery mode what they lead to. */
  readonly reachable: readonly string[];
  /** Whether one of them may take so long that a task is better than waiting. */
  readonly mayTakeLong: boolean;
  /** The tools behind the names. */
  listed(): Promise<readonly BoundTool[]>;
  /** Unknown and hidden look the same. */
  find(name: string): Promise<BoundTool | undefined>;
  /** Also what is not listed, but found by search. */
  reach(name: string): Promise<BoundTool | undefined>;
}

/** Made again when other tools are trusted than before; what is offered never changes as a side effect of a call. */
export function createExposure(inventory: Inventory, options: ExposureOptions): Exposure {
  let version = inventory.version;
  let made = makeExposure(inventory, options);
  const current = (): Exposure => {
    if (inventory.version !== version) {
      version = inventory.version;
      made = makeExposure(inventory, options);
    }
    return made;
  };
  return {
    options,
    get names() {
      return current().names;
    },
    get reachable() {
      return current().reachable;
    },
    get mayTakeLong() {
      return current().mayTakeLong;
    },
    listed: () => current().listed(),
    find: (name) => current().find(name),
    reach: (name) => current().reach(name),
  };
}

function makeExposure(inventory: Inventory, options: ExposureOptions): Exposure {
  const ids = withBrought(inventory, options.toolkits);
  const offered = [...ids].flatMap((id) =>
    inventory.catalogue.filter(
      ({ name, toolkit, profiles }) =>
        toolkit === id && profiles.includes(options.profile) && !inventory.withheld.has(name),
    ),
  );
  const names = offered.map(({ name }) => name).filter((name) => !inventory.hidden.has(name));
  const known = new Set(offered.map(({ name }) => name));
  const reach = async (name: string) => (known.has(name) ? inventory.resolve(name) : undefined);
  const reachTools = async () => (await Promise.all(names.map(reach))).filter((owned) => owned !== undefined);
  const shared = {
    options,
    reachable: names,
    mayTakeLong: offered.some((entry) => entry.mayTakeLong),
    reach,
  };
  if (!options.discovery) return { ...shared, names, listed: reachTools, find: reach };
  const metaTools = createDiscovery(reachTools);
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
