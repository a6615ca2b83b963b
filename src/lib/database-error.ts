/** Five characters of class and condition, a digit among them; the system's own (EPERM, EROFS, E2BIG) begin with E. */
const SQLSTATE = /^(?!E)(?=.*\d)[0-9A-Z]{5}$/;
/** What the driver itself says when a connection breaks; these errors have no code. */
const LOST =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|timeout expired)/;
export const DAMAGED = 'The database is damaged. Restore a backup with `countersign restore FOLDER --force`.';
const DOCTOR = 'Run `countersign doctor`.';

/** What went wrong with the store while it was open, in plain words; undefined when it is no such error. */
export function describeDatabaseError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code.startsWith('SQLITE')) return sqliteProblem(code);
  if (code === 'ETIMEDOUT')
    return `PostgreSQL does not answer. Check that it is running and reachable. ${DOCTOR}`;
  if (SQLSTATE.test(code) || code.startsWith('ECONN'))
    return `PostgreSQL is not responding as expected (${code}). Check that it is running and that storage.url is correct. ${DOCTOR}`;
  if (code === '' && LOST.test(error.message))
    return `The connection to PostgreSQL was lost. Check that it is running. ${DOCTOR}`;
  return undefined;
}

/** A sentence followed by what the store says, where it says something. */
export const withCause = (sentence: string, error: unknown): string =>
  [sentence, describeDatabaseError(error)].filter(Boolean).join(' ');

function sqliteProblem(code: string): string {
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
    return 'The database is locked by another process. Wait for it or stop it, then retry.';
  if (code.startsWith('SQLITE_FULL'))
    return 'The disk is full, so the database cannot be written. Free some space.';
  if (code.startsWith('SQLITE_READONLY'))
    return 'The database is not writable. Grant yourself write access to the file and its directory.';
  if (code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB')) return DAMAGED;
  return `The database could not be read or written (${code}). ${DOCTOR}`;
}
