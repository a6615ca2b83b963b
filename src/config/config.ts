import type { z } from 'zod';
import type { ConfigSection } from '../contract/config.ts';
import type { JsonObject } from '../contract/json.ts';
import { type McpPolicyConfig, mcpPolicy } from '../contract/policy.ts';
import { servers } from '../contract/servers.ts';
import { lookup } from '../lib/lookup.ts';
import type { Problem } from './explain.ts';
import { approvals, audit, calls, log, server, storage, telemetry, topLevel } from './fields.ts';
import { ConfigError, type ConfigProblem, setAt, valueAt } from './path.ts';
import { isTighter, maskSecrets, shapeAt, shapeOf } from './shape.ts';
import { storageUrlOf } from './store-place.ts';

type Values<S extends ConfigSection> = Readonly<z.output<S['schema']>>;

/** The configuration in force. Frozen: nothing changes it while the process lives. */
export interface Config {
  readonly mode: Values<typeof topLevel>['mode'];
  /** In force: Composer mode forces it on. */
  readonly approvalMode: boolean;
  /** Those configured and every enabled server, or what a flag names. */
  readonly toolkits: readonly string[];
  readonly servers: Values<typeof servers>;
  readonly profile: Values<typeof topLevel>['profile'];
  /** Names of the tools that some section disables. */
  readonly withheld: ReadonlySet<string>;
  readonly policy: Readonly<McpPolicyConfig>;
  readonly approvals: Values<typeof approvals>;
  readonly server: Values<typeof server>;
  readonly calls: Values<typeof calls>;
  readonly audit: Values<typeof audit>;
  readonly telemetry: Values<typeof telemetry>;
  readonly log: Values<typeof log>;
  /** A file path or a postgres:// address. */
  readonly storageUrl: string;
  readonly dataDir: string;
  /** The file that was read, or would have been. */
  readonly path: string;
  section<T extends z.ZodObject>(section: ConfigSection<T>): z.output<T>;
  /** Problems found later (a policy that names no tool) as an error with file and line, variable or flag. */
  errorFor(problems: readonly Problem[]): ConfigError;
  /** The whole of it with every secret masked. */
  masked(): JsonObject;
  /** The same for one session or request, which may make values stricter and never looser. Keys are dotted paths. */
  tightened(overrides: Readonly<Record<string, unknown>>, source: string): Config;
}

export interface ConfigParts {
  /** Parsed values by section; the empty key holds those above the first table. One that is not here has its defaults. */
  readonly values: ReadonlyMap<string, Record<string, unknown>>;
  readonly sections: readonly ConfigSection[];
  readonly path: string;
  readonly dataDir: string;
  readonly attribute: (problems: readonly Problem[]) => ConfigProblem[];
  /** A flag names the toolkits: no server is offered beyond them. */
  readonly onlyToolkits?: boolean;
}

export function createConfig(parts: ConfigParts): Config {
  const { sections, path, dataDir } = parts;
  const values = new Map(parts.values);
  for (const table of values.values()) deepFreeze(table);
  const section = <T extends z.ZodObject>(wanted: ConfigSection<T>): z.output<T> => {
    const { key } = wanted;
    const known = values.get(key);
    if (known) return known as z.output<T>;
    if (!sections.some((one) => one.key === key))
      throw new TypeError(`the configuration section [${key}] was not given to loadConfig`);
    const defaults = wanted.schema.parse({}, { jitless: true });
    deepFreeze(defaults);
    values.set(key, defaults);
    return defaults;
  };
  const { mode, approval_mode, toolkits, profile } = section(topLevel);
  const { url } = section(storage);
  const configured = values.has(servers.key) ? section(servers) : {};
  const enabled = Object.keys(configured).filter((name) => lookup(configured, name)?.enabled);
  return Object.freeze({
    mode,
    approvalMode: approval_mode || mode === 'composer',
    toolkits: [...new Set([...(toolkits ?? []), ...(parts.onlyToolkits ? [] : enabled)])],
    servers: configured,
    profile,
    withheld: new Set(sections.flatMap((each) => each.withholds?.(section(each)) ?? [])),
    policy: section(mcpPolicy),
    approvals: section(approvals),
    server: section(server),
    calls: section(calls),
    audit: section(audit),
    telemetry: section(telemetry),
    log: section(log),
    storageUrl: storageUrlOf(url, dataDir),
    dataDir,
    path,
    section,
    errorFor: (problems: readonly Problem[]) => new ConfigError(parts.attribute(problems)),
    masked: () => maskValues(section, sections),
    tightened: (overrides: Readonly<Record<string, unknown>>, source: string) =>
      createConfig({ ...parts, values: tightenValues(section, sections, overrides, source) }),
  });
}

type TableOf = (section: ConfigSection) => Record<string, unknown>;

function maskValues(tableOf: TableOf, sections: readonly ConfigSection[]): JsonObject {
  const tables = sections.map((section) => [section.key, maskSecrets(tableOf(section), shapeOf(section))]);
  return {
    ...(maskSecrets(tableOf(topLevel), shapeOf(topLevel)) as JsonObject),
    ...Object.fromEntries(tables),
  };
}

function tightenValues(
  tableOf: TableOf,
  sections: readonly ConfigSection[],
  overrides: Readonly<Record<string, unknown>>,
  source: string,
): Map<string, Record<string, unknown>> {
  const copy = new Map([topLevel, ...sections].map((one) => [one.key, structuredClone(tableOf(one))]));
  for (const [name, wanted] of Object.entries(overrides)) {
    const parts = name.split('.');
    const section = parts.length === 1 ? topLevel : sections.find(({ key }) => key === parts[0]);
    const path = parts.length === 1 ? parts : parts.slice(1);
    const table = section && copy.get(section.key);
    const direction = section && shapeAt(shapeOf(section), path)?.tighten;
    const current = valueAt(table, path);
    if (!table || !isTighter(direction, current, wanted)) {
      const message =
        direction === undefined
          ? 'cannot be changed for one session'
          : `can only be made stricter than ${JSON.stringify(current)} here, not ${JSON.stringify(wanted)}`;
      throw new ConfigError([{ source, path: name, message }]);
    }
    setAt(table, path, wanted);
  }
  return copy;
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
}
