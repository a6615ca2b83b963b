import { readFileSync } from 'node:fs';
import { parse, TomlError } from 'smol-toml';
import type { ConfigSection } from '../contract/config.ts';
import { fileReason } from '../lib/file-error.ts';
import { containsPrototypeKey } from '../lib/json-shape.ts';
import { closest } from '../lib/text.ts';
import { describeSection, envName } from './describe.ts';
import { topLevel } from './fields.ts';
import { ConfigError, type ConfigProblem, isTable } from './path.ts';
import { type Shape, shapeAt, shapeOf, variantsOf } from './shape.ts';

/**
 * Turns the text of an environment variable or a flag into the kind of value the field wants. What is invalid stays
 * text, so the schema refuses it with its own words.
 */
function coerce(text: string, shape: Shape | undefined): unknown {
  if (!shape) return text;
  const variants = variantsOf(shape);
  if (variants.length > 0) {
    const values = variants.map((variant) => ({ variant, value: coerce(text, variant) }));
    return values.find(({ variant, value }) => fits(value, variant))?.value ?? text;
  }
  switch (shape.type) {
    case 'boolean':
      return BOOLEANS.get(text.trim().toLowerCase()) ?? text;
    case 'integer':
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
    case 'array':
      return coerceList(text, shape.items);
    case 'object':
      return fromJson(text) ?? text;
    default:
      return text;
  }
}

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
]);

function coerceList(text: string, items: Shape | undefined): unknown {
  if (text.trimStart().startsWith('[')) return fromJson(text) ?? text;
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => coerce(part, items));
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fits(value: unknown, { type, const: only, enum: options }: Shape): boolean {
  if (only !== undefined) return value === only;
  if (options) return options.includes(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isTable(value);
  if (type === 'integer') return Number.isInteger(value);
  return type === undefined || typeof value === type;
}

/** One value given outside the file. */
export interface Assignment {
  readonly path: readonly string[];
  readonly value: unknown;
  /** How an error names it. */
  readonly source: string;
}

export interface ConfigFile {
  readonly path: string;
  readonly text: string;
  readonly values: Record<string, unknown>;
}

export function readConfigFile(path: string, mustExist: boolean): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !mustExist) return { path, text: '', values: {} };
    const why = (error instanceof Error && fileReason(error, path)) || String(error);
    const remedy = mustExist ? 'name another with -c' : 'set COUNTERSIGN_HOME to a directory you own';
    const message =
      code === 'ENOENT'
        ? 'configuration file not found; run `countersign init` to create one'
        : `the configuration file cannot be read: ${why}; ${remedy}`;
    throw new ConfigError([{ source: path, path: '', message }]);
  }
  try {
    const values = parse(text);
    if (containsPrototypeKey(values)) throw prototypeKey(path, text);
    return { path, text, values };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    const hint = what === 'invalid value' ? ' (strings need quotes: key = "value")' : '';
    const message = `invalid TOML: ${what}${hint}`;
    throw new ConfigError([{ source: `${path}:${error.line}`, path: '', message }]);
  }
}

/** A name as any other to the parser, but one that schemas leave out without a word. */
function prototypeKey(path: string, text: string): ConfigError {
  const line = text.split('\n').findIndex((one) => /^[^#]*__proto__/.test(one)) + 1;
  const message = 'invalid TOML: the key __proto__ is not allowed; choose another name';
  return new ConfigError([{ source: `${path}:${line || 1}`, path: '', message }]);
}

const PREFIX = 'COUNTERSIGN_';
/** Read elsewhere: where the data directory is. */
const NOT_SETTINGS = new Set(['COUNTERSIGN_HOME', 'COUNTERSIGN_TOKEN']);

export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  sections: readonly ConfigSection[],
  problems: ConfigProblem[],
): Assignment[] {
  const assignments: Assignment[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || NOT_SETTINGS.has(name)) continue;
    // An empty variable is how shells and client configurations say "not set".
    if (text === undefined || text === '') continue;
    const path = name.slice(PREFIX.length).toLowerCase().split('__');
    const shape = fieldShape(path, sections);
    if (shape) assignments.push({ path, value: coerce(text, shape), source: `environment ${name}` });
    else reportUnknownVariable(name, path, sections, problems);
  }
  return assignments;
}

export function readFlags(
  flags: Readonly<Record<string, unknown>>,
  sections: readonly ConfigSection[],
): Assignment[] {
  return Object.entries(flags)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const path = name.split('.');
      const text = typeof value === 'string' ? coerce(value, fieldShape(path, sections)) : value;
      return { path, value: text, source: `flag --${(path.at(-1) ?? name).replaceAll('_', '-')}` };
    });
}

function fieldShape(path: readonly string[], sections: readonly ConfigSection[]) {
  const [head = '', ...rest] = path;
  if (rest.length === 0) return shapeAt(shapeOf(topLevel), path);
  const section = sections.find(({ key }) => key === head);
  return section && shapeAt(shapeOf(section), rest);
}

function reportUnknownVariable(
  name: string,
  path: readonly string[],
  sections: readonly ConfigSection[],
  problems: ConfigProblem[],
): void {
  const known = [topLevel, ...sections].flatMap((section) =>
    describeSection(section).flatMap(({ env }) => env ?? []),
  );
  const meant = closest(name, known);
  // Without `__` it may belong to another program; only a near miss is surely a mistake.
  if (path.length === 1 && meant === undefined) return;
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  problems.push({
    source: `environment ${envName(path)}`,
    path: '',
    message: `is not a known setting${hint}`,
  });
}
