import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { describeDatabaseError } from './database-error.ts';

describe('describeDatabaseError', () => {
  it('says in plain words that another process holds the store', () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-busy-'));
    const [first, second] = [1, 2].map(() => new Database(join(folder, 'a.db'), { timeout: 1 }));
    try {
      first?.exec('begin immediate');
      let caught: unknown;
      try {
        second?.exec('begin immediate');
      } catch (error) {
        caught = error;
      }
      expect(describeDatabaseError(caught)).toBe(
        'The database is locked by another process. Wait for it or stop it, then retry.',
      );
    } finally {
      first?.close();
      second?.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('knows a full disk, a store that cannot be written and a server that went away', () => {
    const told = (code: string, message = '') =>
      describeDatabaseError(Object.assign(new Error(message), { code }));
    expect(told('SQLITE_FULL')).toContain('disk is full');
    expect(told('SQLITE_READONLY')).toContain('is not writable');
    expect(told('ECONNREFUSED')).toContain('PostgreSQL is not responding');
    expect(told('57P01')).toContain('PostgreSQL');
    expect(told('SQLITE_CORRUPT')).toContain('countersign restore');
    expect(told('SQLITE_ERROR', 'no such table')).toContain('countersign doctor');
  });

  it('leaves other errors alone', () => {
    expect(describeDatabaseError(new Error('no'))).toBeUndefined();
    expect(describeDatabaseError(Object.assign(new Error(), { code: 'ENOENT' }))).toBeUndefined();
    expect(describeDatabaseError('SQLITE_BUSY')).toBeUndefined();
  });

  it.each(['EPERM', 'EROFS', 'EPIPE', 'E2BIG'])(
    'does not take %s, which is about a file or a program, for a code of PostgreSQL',
    (code) => {
      expect(describeDatabaseError(Object.assign(new Error('no'), { code }))).toBeUndefined();
    },
  );

  it('says that a connection was lost when the driver gives no code', () => {
    expect(describeDatabaseError(new Error('Connection terminated unexpectedly'))).toContain('was lost');
    expect(describeDatabaseError(new Error('Connection refused by the remote service'))).toBeUndefined();
  });
});
