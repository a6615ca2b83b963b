import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { storeProblem } from './store-problem.ts';

describe('storeProblem', () => {
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
      expect(storeProblem(caught)).toBe(
        'The store is locked: another process has kept it for too long. Wait for it or stop it, then try again.',
      );
    } finally {
      first?.close();
      second?.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('knows a full disk, a store that cannot be written and a server that went away', () => {
    const told = (code: string, message = '') => storeProblem(Object.assign(new Error(message), { code }));
    expect(told('SQLITE_FULL')).toContain('disk is full');
    expect(told('SQLITE_READONLY')).toContain('cannot be written');
    expect(told('ECONNREFUSED')).toContain('PostgreSQL does not answer');
    expect(told('57P01')).toContain('PostgreSQL');
    expect(told('SQLITE_CORRUPT')).toContain('countersign restore');
    expect(told('SQLITE_ERROR', 'no such table')).toContain('countersign doctor');
  });

  it('leaves other errors alone', () => {
    expect(storeProblem(new Error('no'))).toBeUndefined();
    expect(storeProblem(Object.assign(new Error(), { code: 'ENOENT' }))).toBeUndefined();
    expect(storeProblem('SQLITE_BUSY')).toBeUndefined();
  });

  it.each(['EPERM', 'EROFS', 'EPIPE', 'E2BIG'])(
    'does not take %s, which is about a file or a program, for a code of PostgreSQL',
    (code) => {
      expect(storeProblem(Object.assign(new Error('no'), { code }))).toBeUndefined();
    },
  );
});
