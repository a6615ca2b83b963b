import { rmSync } from 'node:fs';
import { isBusy, SqliteFile } from '../project/schema.ts';

const BUSY_MS = 5000;
const AGAIN_MS = 50;

/** Opens a file that can be made again at any time: one that is damaged is thrown away and created again. */
export function openCacheFile(path: string, prepare: (db: SqliteFile) => void): SqliteFile {
  try {
    return open(path, prepare);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true });
    return open(path, prepare);
  }
}

function open(path: string, prepare: (db: SqliteFile) => void): SqliteFile {
  const db = new SqliteFile(path, { create: true, busyMs: BUSY_MS });
  try {
    switchToLog(db);
    // Several processes may open a new file simultaneously; one of them makes the tables.
    db.exec('BEGIN IMMEDIATE');
    prepare(db);
    db.exec('COMMIT');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** SQLite does not wait here on its own when two processes change the mode of a new file simultaneously. */
function switchToLog(db: SqliteFile): void {
  for (let waited = 0; ; waited += AGAIN_MS) {
    try {
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
      return;
    } catch (error) {
      if (!isBusy(error) || waited >= BUSY_MS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS);
    }
  }
}

const isDamaged = (error: unknown): boolean =>
  error instanceof Error &&
  /SQLITE_(CORRUPT|NOTADB)|not a database|malformed/.test(
    `${(error as { code?: unknown }).code} ${error.message}`,
  );
