import { readFileSync } from 'node:fs';
import { parse, stringify } from 'smol-toml';
import { withoutTables } from '../clients/toml-tables.ts';

/** What `servers add` writes; everything left out has its default. */
export interface ServerTable {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly url?: string;
  readonly transport?: string;
  readonly changes?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Adds a table at the end: comments, order and everything else of the file stay as they are. */
export function withServer(text: string, name: string, table: ServerTable): string {
  const given = Object.entries(table).filter(([, value]) => value !== undefined && !isEmpty(value));
  const added = stringify({ servers: { [name]: Object.fromEntries(given) } }).trim();
  const before = text.trim() === '' ? '' : `${text.replace(/\n*$/, '\n')}\n`;
  const next = `${before}${added}\n`;
  parse(next);
  return next;
}

/** Takes a server's tables out. Undefined where they are written in a way that only a person can edit. */
export function withoutServer(text: string, name: string): string | undefined {
  const next = withoutTables(text, 'servers', [name]);
  return isWithout(next, text, name) ? next : undefined;
}

/** A line of a multi-line text may look like a header, so the result is compared as data. */
function isWithout(next: string, before: string, name: string): boolean {
  try {
    const wanted = parse(before) as { servers?: Record<string, unknown> };
    delete wanted.servers?.[name];
    if (wanted.servers && Object.keys(wanted.servers).length === 0) delete wanted.servers;
    return stringify(wanted) === stringify(parse(next));
  } catch {
    return false;
  }
}

export function readConfigText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length === 0
    : typeof value === 'object' && Object.keys(value ?? {}).length === 0;
