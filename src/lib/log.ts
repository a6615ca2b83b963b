import type { Writable } from 'node:stream';

const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Fields = Record<string, unknown>;

/** Lines for people on stderr, because on stdio stdout is the protocol. Fields never hold arguments or secrets. */
export function createLog(level: LogLevel, out: Writable = process.stderr) {
  const most = LOG_LEVELS.indexOf(level);
  const write = (name: Exclude<LogLevel, 'silent'>) => {
    const enabled = LOG_LEVELS.indexOf(name) <= most;
    return (message: string, fields?: Fields): void => {
      if (!enabled) return;
      out.write(`${new Date().toISOString()} ${name} ${message}${formatFields(fields)}\n`);
    };
  };
  return { error: write('error'), warn: write('warn'), info: write('info'), debug: write('debug') };
}

function formatFields(fields: Fields | undefined): string {
  if (!fields) return '';
  return Object.entries(fields)
    .map(([key, value]) => ` ${key}=${formatValue(value)}`)
    .join('');
}

function formatValue(value: unknown): string {
  if (value instanceof Error) {
    const cause = value.cause instanceof Error ? ` (${value.cause.message})` : '';
    return JSON.stringify(`${value.name}: ${value.message}${cause}`);
  }
  if (typeof value === 'string' && /^[\w./:@-]+$/.test(value)) return value;
  return JSON.stringify(value) ?? 'undefined';
}

/** Replaced by the build with the version of package.json; from source it says so. */
declare const COUNTERSIGN_VERSION: string | undefined;

export const VERSION: string = typeof COUNTERSIGN_VERSION === 'string' ? COUNTERSIGN_VERSION : '0.0.0-source';
