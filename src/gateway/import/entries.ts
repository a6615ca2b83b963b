import type { ClientName } from '../../clients/formats.ts';
import { isObject } from '../../lib/is-object.ts';
import { lookup, put } from '../../lib/lookup.ts';
import type { ServerTable } from '../config-file.ts';
import { looksLikeCredential, looksSecret } from '../secrets.ts';

/** One server of a client's file in our terms, or why it cannot be imported. */
export type Imported =
  | {
      readonly table: ServerTable;
      readonly secrets: Readonly<Record<string, string>>;
      readonly warnings: readonly string[];
    }
  | { readonly problem: string };

type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads an entry in any of the shapes that clients use. Only how to reach the server is taken: settings that approve
 * calls automatically are left out on purpose.
 */
export function importEntry(client: ClientName, name: string, entry: unknown): Imported | undefined {
  if (!isTable(entry) || entry.type === 'builtin' || entry.type === 'platform') return undefined;
  if (entry.disabled === true || entry.enabled === false) return { problem: 'is disabled in the client' };
  try {
    const secrets: Record<string, string> = {};
    const remote = urlOf(client, entry);
    const table = remote
      ? remoteTable(name, entry, remote, secrets, client)
      : localTable(name, entry, secrets, client);
    return { table, secrets, warnings: warningsOf(table, entry) };
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return { problem: error.message };
  }
}

class ImportError extends Error {}

function urlOf(client: ClientName, entry: Entry): { url: string; transport?: 'sse' } | undefined {
  const url = entry.httpUrl ?? entry.serverUrl ?? entry.url ?? entry.uri;
  if (url === undefined) return undefined;
  if (typeof url !== 'string') throw new ImportError('has a URL that is not text');
  const kind = entry.type ?? entry.transport;
  // Gemini's `url` means the old transport, `httpUrl` the new one.
  const old = kind === 'sse' || (client === 'gemini' && kind === undefined && entry.httpUrl === undefined);
  return { url: literal(url, 'its URL'), ...(old ? { transport: 'sse' as const } : {}) };
}

function remoteTable(
  name: string,
  entry: Entry,
  remote: { url: string; transport?: 'sse' },
  secrets: Record<string, string>,
  client: ClientName,
): ServerTable {
  const bearer = entry.bearer_token_env_var;
  const headers = {
    ...referring(name, texts(entry.headers ?? entry.http_headers, 'headers'), secrets, client),
    ...Object.fromEntries(
      Object.entries(texts(entry.env_http_headers, 'env_http_headers')).map(([key, variable]) => [
        key,
        `\${env:${variable}}`,
      ]),
    ),
    ...(typeof bearer === 'string' ? { Authorization: `Bearer \${env:${bearer}}` } : {}),
  };
  return { ...remote, url: withoutParameters(name, remote.url, secrets), headers };
}

function localTable(
  name: string,
  entry: Entry,
  secrets: Record<string, string>,
  client: ClientName,
): ServerTable {
  // Zed once kept path, args and env in a table of their own.
  const inner = isTable(entry.command) ? entry.command : entry;
  const words = Array.isArray(inner.command) ? inner.command : [inner.command ?? inner.cmd ?? inner.path];
  const [command, ...more] = [...words, ...(Array.isArray(inner.args) ? inner.args : [])];
  if (typeof command !== 'string' || command === '') throw new ImportError('has neither a command nor a URL');
  if (entry.envFile !== undefined)
    throw new ImportError('reads an envFile; add its variables with `servers add --env`');
  if (Array.isArray(entry.env_keys) && entry.env_keys.length > 0)
    throw new ImportError(
      `takes ${entry.env_keys.join(', ')} from the client's keychain; add it with \`servers add --env\``,
    );
  const args = more.map((one) => {
    if (typeof one !== 'string') throw new ImportError('has an argument that is not text');
    return literal(one, 'its arguments');
  });
  const cwd = inner.cwd;
  return {
    command: literal(command, 'its command'),
    args: withoutCredentials(name, args, secrets),
    ...(typeof cwd === 'string' ? { cwd: literal(cwd, 'its directory') } : {}),
    env: {
      ...passedOn(entry.env_vars),
      ...referring(name, texts(inner.env ?? inner.environment ?? inner.envs, 'env'), secrets, client),
    },
  };
}

/** Codex passes these variables of its own environment on. */
function passedOn(names: unknown): Record<string, string> {
  if (names === undefined) return {};
  const all = Array.isArray(names) ? names : [names];
  if (!all.every((one) => typeof one === 'string'))
    throw new ImportError('has env_vars that are not names of variables');
  return Object.fromEntries(all.map((one) => [one, `\${env:${one}}`]));
}

/** A form that only the client resolves would silently mean something else here. */
function literal(text: string, where: string): string {
  const form = /\$\{[^}]*\}|\{(?:env|file):[^}]*\}/.exec(text)?.[0];
  if (form !== undefined) throw new ImportError(`uses ${form} in ${where}, which only the client resolves`);
  return text;
}

/** Variables become references to the environment, credentials move to the secret file, everything else stays. */
function referring(
  name: string,
  values: Readonly<Record<string, string>>,
  secrets: Record<string, string>,
  client: ClientName,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const text = (
        client === 'gemini'
          ? value.replace(/\$([A-Za-z_][A-Za-z0-9_]*)/g, (_, one: string) => `\${env:${one}}`)
          : value
      )
        .replace(/\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}/g, '${env:$1}')
        .replace(/\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, variable: string, at: number, all: string) =>
          all[at - 1] === '$' ? whole : `\${env:${variable}}`,
        );
      const other = /\$\{(?!env:[A-Za-z_][A-Za-z0-9_]*\})[^}]*\}|\{file:[^}]*\}/.exec(text)?.[0];
      if (other !== undefined)
        throw new ImportError(`uses ${other} in ${key}, which only the client resolves`);
      if (text.includes('${env:') || !(looksSecret(key) || looksLikeCredential(text))) return [key, text];
      const secret = `${name}.${key}`;
      put(secrets, secret, text);
      return [key, `\${secret:${secret}}`];
    }),
  );
}

/** Arguments can be read by every process of the machine, and only the server's author can change that. */
function warningsOf({ args = [], url }: ServerTable, entry: Entry): string[] {
  const moved = args.some((one) => one.includes('${secret:'));
  return [
    ...(moved ? ['An argument is a credential; while the server runs, other processes can see it'] : []),
    ...(url !== undefined && looksLikeCredential(url)
      ? ['The URL contains a password, which stays there']
      : []),
    ...(TOOL_LISTS.some((key) => hasEntries(lookup(entry, key)))
      ? ['The client restricts its tools; that is not imported. Trust only the tools you want']
      : []),
  ];
}

/** An argument that is a credential, or follows an option whose name says so. */
function withoutCredentials(
  name: string,
  args: readonly string[],
  secrets: Record<string, string>,
): string[] {
  return args.map((one, index) => {
    const before = args[index - 1] ?? '';
    const [option = '', value] = one.startsWith('-') ? one.split(/=(.*)/s) : ['', undefined];
    const isNamed = looksSecret(option) && value !== undefined;
    if (!looksLikeCredential(one) && !isNamed && !(/^--?[^=]+$/.test(before) && looksSecret(before)))
      return one;
    const secret = `${name}.argument-${index + 1}`;
    put(secrets, secret, isNamed ? (value ?? '') : one);
    return `${isNamed ? `${option}=` : ''}\${secret:${secret}}`;
  });
}

/** The values of parameters that are credentials; the address itself stays readable. */
const withoutParameters = (name: string, url: string, secrets: Record<string, string>): string =>
  url.replace(/([?&])([^=&#]+)=([^&#]+)/g, (whole, mark: string, key: string, value: string) => {
    if (!looksSecret(key) && !looksLikeCredential(value)) return whole;
    const secret = `${name}.${key.replace(/[^A-Za-z0-9_.-]/g, '_')}`;
    put(secrets, secret, value);
    return `${mark}${key}=\${secret:${secret}}`;
  });

/** Under these names clients choose single tools of a server. */
const TOOL_LISTS = [
  'enabled_tools',
  'disabled_tools',
  'includeTools',
  'excludeTools',
  'disabledTools',
  'available_tools',
];
const hasEntries = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

function texts(value: unknown, where: string): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (!isTable(value)) throw new ImportError(`has ${where} that is not a table`);
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      if (typeof one !== 'string' && typeof one !== 'number' && typeof one !== 'boolean')
        throw new ImportError(`has a value in ${where} that is not text`);
      return [key, String(one)];
    }),
  );
}

const isTable = (value: unknown): value is Entry => isObject(value);
