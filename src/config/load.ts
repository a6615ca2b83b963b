import { join, resolve } from 'node:path';
import type { z } from 'zod';
import type { ConfigSection } from '../contract/config.ts';
import { lookup } from '../lib/lookup.ts';
import { closest } from '../lib/text.ts';
import { type Config, createConfig } from './config.ts';
import { attributor, explainIssue, explainUnknown, HIDDEN, type Problem, unknownKeys } from './explain.ts';
import { coreSections, topLevel } from './fields.ts';
import { type Assignment, readConfigFile, readEnvironment, readFlags } from './layers.ts';
import { ConfigError, type ConfigProblem, formatPath, type KeyPath, setAt, valueAt } from './path.ts';
import { isTighter, shapeAt, shapeOf } from './shape.ts';
import { dataDirOf } from './store-place.ts';

export interface LoadOptions {
  /** `-c FILE`; it must exist. Without it the default file is read if there is one. */
  readonly path?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By dotted path, `server.port`; text is turned into the field's type, undefined is no flag. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** What the toolkits add. The file is checked against all of them, enabled or not. */
  readonly sections?: readonly ConfigSection[];
  /** Known toolkits, to catch a mistyped one. */
  readonly toolkits?: readonly string[];
  /** Those that are enabled where nothing is configured. */
  readonly defaultToolkits?: readonly string[];
}

/** Defaults, then the file, then the environment, then flags. Throws one `ConfigError` that lists every mistake. */
export function loadConfig(options: LoadOptions): Config {
  const sections = [...coreSections, ...(options.sections ?? [])];
  refuseTwins(sections);
  const dataDir = dataDirOf(options.env);
  const path = options.path === undefined ? join(dataDir, 'config.toml') : resolve(options.path);
  const file = readConfigFile(path, options.path !== undefined);

  const problems: Problem[] = [];
  const outside: ConfigProblem[] = [];
  const environment = readEnvironment(options.env, sections, outside);
  const flags = readFlags(options.flags ?? {}, sections);

  const attribute = attributor(file, [...flags, ...environment]);

  const raw = structuredClone(file.values);
  for (const { path: key, value } of environment) setAt(raw, key, value);
  for (const flag of flags) {
    refuseLooser(flag, raw, sections, outside);
    setAt(raw, flag.path, flag.value);
  }

  raw.toolkits ??= options.defaultToolkits;
  const values = parseSections(raw, sections, problems);
  const known = options.toolkits && [...options.toolkits, ...Object.keys(values.get('servers') ?? {})];
  checkToolkits(values.get('')?.toolkits, known, problems);
  checkPasskeyDomain(values, problems);
  if (problems.length + outside.length > 0) {
    throw new ConfigError([...attribute(problems), ...outside]);
  }
  const onlyToolkits = options.flags?.toolkits !== undefined;
  return createConfig({ values, sections, path, dataDir, attribute, onlyToolkits });
}

function parseSections(
  raw: Record<string, unknown>,
  sections: readonly ConfigSection[],
  problems: Problem[],
): Map<string, Record<string, unknown>> {
  const names = sections.map(({ key }) => key);
  const topKeys = Object.keys(topLevel.schema.shape);
  const values = new Map<string, Record<string, unknown>>();
  for (const key of Object.keys(raw)) {
    if (topKeys.includes(key) || names.includes(key)) continue;
    problems.push({ path: [key], message: explainUnknown([key], [...topKeys, ...names]) });
  }
  const top = Object.fromEntries(
    topKeys.flatMap((key) => (Object.hasOwn(raw, key) ? [[key, lookup(raw, key)]] : [])),
  );
  values.set('', parseSection(topLevel, top, [], problems));
  for (const section of sections) {
    if (!Object.hasOwn(raw, section.key)) continue;
    values.set(section.key, parseSection(section, lookup(raw, section.key), [section.key], problems));
  }
  return values;
}

function parseSection(
  section: ConfigSection,
  table: unknown,
  prefix: KeyPath,
  problems: Problem[],
): Record<string, unknown> {
  for (const { path, known } of unknownKeys(section.schema, table)) {
    problems.push({ path: [...prefix, ...path], message: explainUnknown([...prefix, ...path], known) });
  }
  // Each schema is used once: compiling it first, as zod does by default, would cost most of the start-up.
  const result = section.schema.safeParse(table, { jitless: true });
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    // Found above already, and at every depth.
    if (issue.code === 'unrecognized_keys') continue;
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
    problems.push({ path: [...prefix, ...path], message: explainAt(section, table, path, issue) });
  }
  return {};
}

function explainAt(section: ConfigSection, table: unknown, path: KeyPath, issue: z.core.$ZodIssue): string {
  const value = valueAt(table, path);
  if (value !== undefined && shapeAt(shapeOf(section), path)?.secret) return explainIssue(issue, HIDDEN);
  return explainIssue(issue, value);
}

/** What someone wrote down on purpose, a command line may make stricter but not looser. */
function refuseLooser(
  flag: Assignment,
  raw: Record<string, unknown>,
  sections: readonly ConfigSection[],
  problems: ConfigProblem[],
): void {
  const current = valueAt(raw, flag.path);
  if (current === undefined) return;
  const [head, ...rest] = flag.path;
  const section = rest.length === 0 ? topLevel : sections.find(({ key }) => key === head);
  const direction = section && shapeAt(shapeOf(section), rest.length === 0 ? flag.path : rest)?.tighten;
  if (direction === undefined || isTighter(direction, current, flag.value)) return;
  const message = `${JSON.stringify(flag.value)} is looser than ${JSON.stringify(current)}, which the configuration sets; change it there`;
  problems.push({ source: flag.source, path: formatPath(flag.path), message });
}

function checkToolkits(enabled: unknown, known: readonly string[] | undefined, problems: Problem[]): void {
  if (!known || !Array.isArray(enabled)) return;
  enabled.forEach((name: string, index) => {
    if (known.includes(name)) return;
    const meant = closest(name, known);
    const hint = meant === undefined ? `known: ${known.join(', ')}` : `did you mean "${meant}"?`;
    problems.push({ path: ['toolkits', index], message: `"${name}" is not a known toolkit; ${hint}` });
  });
}

/** Browsers refuse a domain that the page does not belong to, and say so only when someone wants to sign. */
function checkPasskeyDomain(
  values: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
  problems: Problem[],
): void {
  const domain = values.get('approvals')?.rp_id;
  if (typeof domain !== 'string') return;
  const address = values.get('server')?.public_url;
  const host = typeof address === 'string' ? new URL(address).hostname : undefined;
  if (host !== undefined && (host === domain || host.endsWith(`.${domain}`))) return;
  const wanted = host === undefined ? 'needs server.public_url' : `is not ${host} or a parent domain of it`;
  problems.push({ path: ['approvals', 'rp_id'], message: `"${domain}" ${wanted}` });
}

function refuseTwins(sections: readonly ConfigSection[]): void {
  const seen = new Set(Object.keys(topLevel.schema.shape));
  for (const { key } of sections) {
    if (seen.has(key)) throw new TypeError(`the configuration section [${key}] is declared twice`);
    seen.add(key);
  }
}
