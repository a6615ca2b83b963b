/** Five characters of class and condition, a digit among them; the system's own (EPERM, EROFS, E2BIG) begin with E. */
const SQLSTATE = /^(?!E)(?=.*\d)[0-9A-Z]{5}$/;
const DOCTOR = 'Run `countersign doctor`.';

/** What went wrong with the store while it was open, in plain words; undefined when it is no such error. */
export function storeProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code.startsWith('SQLITE')) return sqliteProblem(code);
  if (SQLSTATE.test(code) || code.startsWith('ECONN'))
    return `PostgreSQL does not answer as it should (${code}). Is it running, and storage.url right? ${DOCTOR}`;
  return undefined;
}

function sqliteProblem(code: string): string {
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
    return 'The store is locked: another process has kept it for too long. Wait for it or stop it, then try again.';
  if (code.startsWith('SQLITE_FULL'))
    return 'The disk is full, so the store cannot be written. Free some space.';
  if (code.startsWith('SQLITE_READONLY'))
    return 'The store cannot be written. Give yourself the right to write the file and its folder.';
  if (code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB'))
    return 'The store is damaged. Put a backup in place with `countersign restore FOLDER --force`.';
  return `The store could not be read or written (${code}). ${DOCTOR}`;
}
