import { rmSync } from 'node:fs';
import { isBusy, SqliteFile } from '../project/sqlite.ts';

/** Opens a file that can be made again at any time: one that is damaged is thrown away and begun anew. */
export function openCacheFile(path: string, prepare: (db: SqliteFile) => void): SqliteFile {
  try {
    return open(path, prepare);
  } catch (error) {
    if (isBusy(error)) throw error;
    for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true });
    return open(path, prepare);
  }
}

function open(path: string, prepare: (db: SqliteFile) => void): SqliteFile {
  const db = new SqliteFile(path, { create: true, busyMs: 5000 });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    prepare(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
