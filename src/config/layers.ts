import { readFileSync } from 'node:fs';
import { parse, TomlError } from 'smol-toml';
import type { ConfigSection } from '../contract/config.ts';
import { closest } from '../lib/closest.ts';
import { fileReason } from '../lib/file-problem.ts';
import { coerce } from './coerce.ts';
import { describeSection, envName } from './describe.ts';
import { ConfigError, type ConfigProblem } from './error.ts';
import { topLevel } from './fields.ts';
import { shapeAt, shapeOf } from './shape.ts';

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
    const mend = mustExist ? 'name another with -c' : 'set COUNTERSIGN_HOME to a folder you own';
    const message =
      code === 'ENOENT'
        ? 'the configuration file does not exist; `countersign init` makes one'
        : `the configuration file cannot be read: ${why}; ${mend}`;
    throw new ConfigError([{ source: path, path: '', message }]);
  }
  try {
    return { path, text, values: parse(text, { unsafeKeyBehaviour: 'throw' }) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    const hint = what === 'invalid value' ? ' (text stands in quotes: key = "value")' : '';
    const message = `this is not TOML: ${what}${hint}`;
    throw new ConfigError([{ source: `${path}:${error.line}`, path: '', message }]);
  }
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
