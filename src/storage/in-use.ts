import { existsSync } from 'node:fs';

/**
 * Whether another process has this SQLite store open. Leaving WAL needs the file alone, so SQLite itself tells; the next
 * opening goes back to WAL. To be asked before this process opens the store, as its own connection would count.
 */
export async function storeInUse(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  const { default: SqliteFile } = await import('libsql');
  try {
    const file = new SqliteFile(path, { timeout: 0 });
    try {
      file.pragma('journal_mode = DELETE');
    } finally {
      file.close();
    }
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
  }
}
