import type { Problems } from './report.ts';

/** Runs a check; a part of the database that cannot be read is a problem, not the end of verifying. */
export async function nameDamage(
  problems: Problems,
  what: string,
  work: () => Promise<void>,
  range?: { readonly from: number; readonly to: number },
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isDamage(error)) throw error;
    problems.add(
      'store',
      range?.from,
      `${what} cannot be read: the database is damaged (${error.message}).`,
      range?.to,
    );
  }
}

/** PostgreSQL: data or index corrupted, and text that is not in its encoding. */
const POSTGRES = new Set(['XX000', 'XX001', 'XX002', '22021']);

export function isDamage(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return /^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(code) || POSTGRES.has(code) || error instanceof SyntaxError;
}
