import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '../contract/errors.ts';
import type { ServerSettings } from '../contract/servers.ts';
import { makeFolder } from '../lib/file-error.ts';
import { lookup } from '../lib/lookup.ts';

/** Shorter values occur in ordinary text; masking them would only spoil it. */
const MIN_MASKED = 6;

export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/;
const REFERENCE = /\$\{(env|secret):([^}]*)\}/g;

/** Values that the configuration only refers to, in a file that its owner alone can read. */
export class SecretStore {
  readonly path: string;

  constructor(dataDir: string) {
    this.path = join(dataDir, 'secrets.json');
  }

  names(): string[] {
    return Object.keys(this.#read()).sort();
  }

  get(name: string): string | undefined {
    const all = this.#read();
    return lookup(all, name);
  }

  set(name: string, value: string): void {
    this.#write({ ...this.#read(), [name]: value });
  }

  /** False when there is none of this name. */
  remove(name: string): boolean {
    const { [name]: removed, ...rest } = this.#read();
    if (removed !== undefined) this.#write(rest);
    return removed !== undefined;
  }

  #read(): Record<string, string> {
    if (!existsSync(this.path)) return {};
    return JSON.parse(readFileSync(this.path, 'utf8')) as Record<string, string>;
  }

  /** Written next to it and moved, so a crash leaves the old file or the new one. */
  #write(values: Record<string, string>): void {
    makeFolder(join(this.path, '..'), 0o700);
    const next = `${this.path}.${process.pid}.new`;
    writeFileSync(next, `${JSON.stringify(values, null, 2)}\n`, { mode: 0o600 });
    renameSync(next, this.path);
  }
}

interface Resolved {
  readonly values: Record<string, string>;
  /** What must appear in no log, evidence or result. */
  readonly secrets: readonly string[];
}

/** Replaces references by their values; one that leads nowhere is an error, never an empty value. */
function resolveReferences(
  table: Readonly<Record<string, string>>,
  where: string,
  env: Readonly<Record<string, string | undefined>>,
  store: SecretStore,
): Resolved {
  const secrets: string[] = [];
  const values = Object.entries(table).map(([key, text]) => {
    const resolved = text.replace(REFERENCE, (_whole, kind: string, name: string) => {
      const value = kind === 'env' ? lookup(env, name) : store.get(name);
      if (value === undefined) {
        const remedy =
          kind === 'env' ? `set the environment variable ${name}` : `run \`countersign secrets set ${name}\``;
        throw new ToolError(
          'server_unavailable',
          `${where}.${key} refers to ${kind}:${name}, which is not set; ${remedy}.`,
          {
            retryable: false,
          },
        );
      }
      secrets.push(value);
      return value;
    });
    if (looksSecret(key)) secrets.push(resolved);
    return [key, resolved] as const;
  });
  return {
    values: Object.fromEntries(values),
    secrets,
  };
}

/** Everything a server is started or reached with. */
export function resolveServer(
  name: string,
  settings: ServerSettings,
  env: Readonly<Record<string, string | undefined>>,
  store: SecretStore,
): { readonly settings: ServerSettings; readonly secrets: readonly string[] } {
  const resolve = (table: Readonly<Record<string, string>>, where: string): Resolved =>
    resolveReferences(table, `servers.${name}${where}`, env, store);
  const vars = resolve(settings.env, '.env');
  const headers = resolve(settings.headers, '.headers');
  const args = resolve(Object.fromEntries(Object.entries(settings.args)), '.args');
  const address = resolve(settings.url === undefined ? {} : { url: settings.url }, '');
  return {
    settings: {
      ...settings,
      ...address.values,
      args: Object.values(args.values),
      env: vars.values,
      headers: headers.values,
    },
    secrets: maskable([vars, headers, args, address].flatMap(({ secrets }) => secrets)),
  };
}

/** Lines of a key or certificate; a log is written line by line. */
const MIN_LINE = 16;

/** Every form in which a server may repeat a secret, the longest first: a part must not be replaced before the whole. */
export function maskable(secrets: readonly string[]): string[] {
  const parts = secrets.flatMap((secret) => [secret, ...credentialsOf(secret)]);
  const forms = parts.flatMap((secret) => [secret, ...linesOf(secret), ...encodedForms(secret)]);
  return [...new Set(forms)].filter(({ length }) => length >= MIN_MASKED).sort((a, b) => b.length - a.length);
}

/** A header's value without its scheme, and what `Basic` encodes: a server may repeat the token or the password alone. */
function credentialsOf(secret: string): string[] {
  const [, scheme = '', value] = /^(basic|bearer|token|key|apikey)\s+(\S+)$/i.exec(secret) ?? [];
  if (value === undefined) return [];
  if (scheme.toLowerCase() !== 'basic') return [value];
  const decoded = Buffer.from(value, 'base64').toString();
  return [value, decoded, decoded.slice(decoded.indexOf(':') + 1)];
}

const linesOf = (secret: string): string[] => {
  const lines = secret.split(/\r?\n/);
  return lines.length === 1
    ? []
    : lines.filter((line) => line.length >= MIN_LINE && !line.startsWith('-----'));
};

/** Inside of JSON and of a URL, in hexadecimal, and as a part of anything in base64, such as `Basic` credentials. */
function encodedForms(secret: string): string[] {
  if (secret.length < MIN_MASKED) return [];
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const inUrl = encodeURIComponent(secret.toWellFormed());
  return [
    JSON.stringify(secret).slice(1, -1),
    inUrl,
    inUrl.replace(/%[0-9A-F]{2}/g, (one) => one.toLowerCase()),
    inUrl.replaceAll('%20', '+'),
    hex.replace(/../g, '%$&'),
    hex.toUpperCase().replace(/../g, '%$&'),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset)),
  ];
}

/** The characters of base64 that the secret alone decides where so many bytes (modulo 3) come before it. */
function base64At(secret: Buffer, offset: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(offset), secret]);
  const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)];
  return (['base64', 'base64url'] as const).map((encoding) => bytes.toString(encoding).slice(from, to));
}

/** Names under which people keep credentials. */
export const looksSecret = (name: string): boolean =>
  /(token|secret|passw|credential|authorization|cookie|api[-_]?key|access[-_]?key|private[-_]?key|(^|[-_])(key|pat|auth)$)/i.test(
    name,
  );

const CREDENTIAL =
  /(^|[\s=:])((sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abp]|AKIA|eyJ)[-_A-Za-z0-9.]{12,}|Bearer\s+\S{8,})|[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/;

/** A value that is recognised whatever its name: known kinds of tokens, and addresses with a password. */
export const looksLikeCredential = (text: string): boolean => CREDENTIAL.test(text);

/** A copy of any value with every secret replaced, also inside of longer text. */
export function hideSecrets<T>(value: T, secrets: readonly string[], by = '[secret]'): T {
  if (secrets.length === 0) return value;
  return replaceTexts(value, (text) =>
    secrets.reduce((shown, secret) => shown.replaceAll(secret, by), text),
  ) as T;
}

export function replaceTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, replace));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [replace(key), replaceTexts(item, replace)]),
    );
  return value;
}
