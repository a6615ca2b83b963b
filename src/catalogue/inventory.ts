import type { BoundTool, Toolkit, ToolkitHost } from '../contract/toolkit.ts';
import type { CatalogueEntry } from '../contract/toolkit-entry.ts';
import { plain } from './dialect.ts';

export interface ToolkitSource {
  readonly id: string;
  readonly brings?: readonly string[];
  /** Absent for toolkits that are not part of the product (test fixtures): they are loaded to be known. */
  readonly catalogue?: readonly CatalogueEntry[];
  load(): Promise<Toolkit>;
}

export interface LoadedToolkit {
  readonly toolkit: Toolkit;
  readonly tools: readonly BoundTool[];
  services(): Promise<unknown>;
}

export interface Inventory {
  /** Every name there is, also those withheld: a policy may speak of them. */
  readonly catalogue: readonly CatalogueEntry[];
  readonly sources: readonly ToolkitSource[];
  /** Names the configuration disables: nothing resolves or lists them. */
  readonly withheld: ReadonlySet<string>;
  /** Names no listing shows; a call is still answered, with the refusal of its toolkit. */
  readonly hidden: ReadonlySet<string>;
  load(id: string): Promise<LoadedToolkit>;
  resolve(name: string): Promise<BoundTool | undefined>;
  /** The toolkits loaded so far. */
  loaded(): readonly LoadedToolkit[];
  /** Grows with every `replace`: what was made from the catalogue is then made again. */
  readonly version: number;
  /** Puts other tools in the place of those of the same toolkits; what is connected stays so. */
  replace(sources: readonly ToolkitSource[]): void;
  /** Notifies listeners that the tools changed; the returned function ends that. */
  watch(listener: () => void): () => void;
  /** Lets connected toolkits close what they opened. */
  close(): Promise<void>;
}

/** What a toolkit is given; made when it first connects. */
export type HostFor = (toolkit: Toolkit) => Promise<ToolkitHost>;

/** Every tool there is, each name once. Toolkits are loaded when one of their tools is first needed. */
export async function createInventory(
  initial: readonly ToolkitSource[],
  hostFor: HostFor,
  withheld: ReadonlySet<string> = new Set(),
  hidden: ReadonlySet<string> = new Set(),
): Promise<Inventory> {
  let sources = initial;
  let version = 0;
  const listeners = new Set<() => void>();
  const loaded = new Map<string, Promise<LoadedToolkit>>();
  let ready: LoadedToolkit[] = [];
  const byName = new Map<string, BoundTool>();
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

  let catalogue: CatalogueEntry[] = [];
  for (const source of sources) {
    catalogue.push(...(source.catalogue ?? catalogueOf((await load(source.id)).toolkit)));
  }
  let owner = ownersByName(catalogue);

  return {
    get catalogue() {
      return catalogue;
    },
    get sources() {
      return sources;
    },
    get version() {
      return version;
    },
    withheld,
    hidden,
    load,
    loaded: () => ready,
    async resolve(name) {
      const id = owner.get(name);
      if (id !== undefined && !byName.has(name)) await load(id);
      return byName.get(name);
    },
    replace(next) {
      const ids = new Set(next.map(({ id }) => id));
      const kept = catalogue.filter(({ toolkit }) => !ids.has(toolkit));
      const all = [...kept, ...next.flatMap((source) => source.catalogue ?? [])];
      owner = ownersByName(all);
      catalogue = all;
      sources = [...sources.filter(({ id }) => !ids.has(id)), ...next];
      const inUse = ready.filter(({ toolkit }) => ids.has(toolkit.id)).map(({ toolkit }) => toolkit.id);
      for (const id of ids) loaded.delete(id);
      ready = ready.filter(({ toolkit }) => !ids.has(toolkit.id));
      for (const [name, { toolkit }] of byName) if (ids.has(toolkit.id)) byName.delete(name);
      version += 1;
      // Code that goes through the loaded toolkits must not miss it; one that fails says so when it is called.
      for (const id of inUse) void load(id).catch(() => {});
      for (const listener of listeners) listener();
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      for (const { toolkit, services } of connected) await toolkit.close?.(await services);
    },
  };
}

export const noSuchToolkit = (id: string, sources: readonly ToolkitSource[]): Error =>
  new Error(`Unknown toolkit "${id}". Known: ${sources.map((one) => one.id).join(', ')}.`);

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
  const {
    id,
    title,
    dialect = plain,
    redactForAgent,
    target,
    callContext,
    obstacle,
    servedElsewhere,
  } = toolkit;
  const identity = { id, title, dialect, redactForAgent, target, callContext, obstacle, servedElsewhere };
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
