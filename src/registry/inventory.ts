import type { Effect } from '../contract/effect.ts';
import type { Profile } from '../contract/profile.ts';
import type { Tool } from '../contract/tool.ts';
import type { Toolkit, ToolkitHost } from '../contract/toolkit.ts';

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

export interface ToolkitSource {
  readonly id: string;
  readonly brings?: readonly string[];
  /** Absent for toolkits that are not part of the product (test fixtures): they are loaded to be known. */
  readonly catalogue?: readonly CatalogueEntry[];
  load(): Promise<Toolkit>;
}

/** A tool together with its toolkit; `services` connects the toolkit on first use. */
export interface OwnedTool {
  readonly tool: Tool;
  readonly toolkit: Pick<Toolkit, 'id' | 'dialect' | 'tellAgent'>;
  services(): Promise<unknown>;
}

export interface LoadedToolkit {
  readonly toolkit: Toolkit;
  readonly tools: readonly OwnedTool[];
  services(): Promise<unknown>;
}

export interface Inventory {
  /** Every name there is, also those withheld: a policy may speak of them. */
  readonly catalogue: readonly CatalogueEntry[];
  readonly sources: readonly ToolkitSource[];
  /** Names the configuration takes away: nothing resolves or lists them. */
  readonly withheld: ReadonlySet<string>;
  load(id: string): Promise<LoadedToolkit>;
  resolve(name: string): Promise<OwnedTool | undefined>;
  /** The toolkits loaded so far. */
  loaded(): readonly LoadedToolkit[];
  /** Lets connected toolkits close what they opened. */
  close(): Promise<void>;
}

/** What a toolkit is given; made when it first connects. */
export type HostFor = (toolkit: Toolkit) => Promise<ToolkitHost>;

/** Every tool there is, each name once. Toolkits are loaded when one of their tools is first needed. */
export async function createInventory(
  sources: readonly ToolkitSource[],
  hostFor: HostFor,
  withheld: ReadonlySet<string> = new Set(),
): Promise<Inventory> {
  const loaded = new Map<string, Promise<LoadedToolkit>>();
  const ready: LoadedToolkit[] = [];
  const byName = new Map<string, OwnedTool>();
  const connected: { toolkit: Toolkit; services: Promise<unknown> }[] = [];

  const load = (id: string): Promise<LoadedToolkit> => {
    const known = loaded.get(id);
    if (known) return known;
    const source = sources.find((one) => one.id === id);
    if (!source) throw noSuchToolkit(id, sources);
    const loading = source.load().then((toolkit) => {
      const bound = bind(toolkit, hostFor, connected, withheld);
      ready.push(bound);
      for (const owned of bound.tools) byName.set(owned.tool.name, owned);
      return bound;
    });
    loaded.set(id, loading);
    return loading;
  };

  const catalogue: CatalogueEntry[] = [];
  for (const source of sources) {
    catalogue.push(...(source.catalogue ?? catalogueOf((await load(source.id)).toolkit)));
  }
  const owner = ownersByName(catalogue);

  return {
    catalogue,
    sources,
    withheld,
    load,
    loaded: () => ready,
    async resolve(name) {
      const id = owner.get(name);
      if (id !== undefined && !byName.has(name)) await load(id);
      return byName.get(name);
    },
    async close() {
      for (const { toolkit, services } of connected) await toolkit.close?.(await services);
    },
  };
}

export const noSuchToolkit = (id: string, sources: readonly ToolkitSource[]): Error =>
  new Error(`There is no toolkit "${id}". Known: ${sources.map((one) => one.id).join(', ')}.`);

export const catalogueOf = (toolkit: Toolkit): CatalogueEntry[] =>
  toolkit.tools.map(({ name, category, effect, profiles, policyName, mayTakeLong }) => ({
    name,
    toolkit: toolkit.id,
    category,
    effect,
    profiles,
    ...(policyName ? { policyName } : {}),
    ...(mayTakeLong ? { mayTakeLong } : {}),
  }));

function bind(
  toolkit: Toolkit,
  hostFor: HostFor,
  connected: { toolkit: Toolkit; services: Promise<unknown> }[],
  withheld: ReadonlySet<string>,
): LoadedToolkit {
  let connecting: Promise<unknown> | undefined;
  const services = (): Promise<unknown> => {
    if (connecting) return connecting;
    const attempt = hostFor(toolkit).then((host) => toolkit.connect(host));
    connecting = attempt;
    attempt.then(
      () => connected.push({ toolkit, services: attempt }),
      // A failed connection is tried again by the next call, not remembered for ever.
      () => {
        connecting = undefined;
      },
    );
    return attempt;
  };
  const { id, dialect, tellAgent } = toolkit;
  const identity = { id, dialect, tellAgent };
  const offered = toolkit.tools.filter(({ name }) => !withheld.has(name));
  return { toolkit, services, tools: offered.map((tool) => ({ tool, toolkit: identity, services })) };
}

function ownersByName(catalogue: readonly CatalogueEntry[]): Map<string, string> {
  const owner = new Map<string, string>();
  for (const { name, toolkit } of catalogue) {
    const other = owner.get(name);
    if (other !== undefined)
      throw new Error(`The tool name ${name} is used twice: in ${other} and in ${toolkit}.`);
    owner.set(name, toolkit);
  }
  return owner;
}
