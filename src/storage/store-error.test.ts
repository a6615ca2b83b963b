import { describe, expect, it } from 'vitest';
import { StoreError, shownUrl, storeError } from './store-error.ts';

const coded = (code: string, message = 'driver text'): Error => Object.assign(new Error(message), { code });

describe('storeError', () => {
  it.each([
    ['ENOTFOUND', 'unknown host name'],
    ['ETIMEDOUT', 'the host cannot be reached'],
    ['28P01', 'rejected this user or password'],
    ['42501', 'may not create or change tables'],
  ])('words %s of PostgreSQL and keeps the driver’s error as cause', (code, words) => {
    const cause = coded(code);
    const error = storeError('postgres://me:hunter2@db:5432/box', cause);
    expect(error.message).toContain(`storage.url is postgres://me@db:5432/box): `);
    expect(error.message).toContain(words);
    expect(error.cause).toBe(cause);
  });

  it.each([
    [coded('', 'attempt to write a readonly database'), 'Cannot open the database /a/b.db for writing'],
    [coded('SQLITE_CORRUPT'), 'this file is damaged'],
    [
      coded('', 'ConnectionFailed("Unable to open connection to local database /a/b.db: 14")'),
      'it is a directory, or you may not',
    ],
    [Object.assign(coded('EACCES'), { path: '/a' }), 'Cannot use /a: permission denied'],
  ])('words what SQLite and the file system say: %s', (cause, words) => {
    expect(storeError('/a/b.db', cause).message).toContain(words);
  });

  it('leaves what is worded already', () => {
    const own = new StoreError('written by a newer Countersign');
    expect(storeError('/a/b.db', own)).toBe(own);
  });
});

describe('shownUrl', () => {
  it('has neither password nor options', () => {
    expect(shownUrl('postgresql://me:hunter2@db/box?password=hunter3')).toBe('postgresql://me@db/box');
    expect(shownUrl('postgres://me:hunter2@[db/box')).not.toContain('hunter2');
  });
});
