import { describe, expect, it } from 'vitest';
import { isDamage, nameDamage } from './damage.ts';
import { Problems } from './report.ts';

const failure = (code: unknown) => Object.assign(new Error('broken'), { code });

describe('a damaged database', () => {
  it.each(['SQLITE_CORRUPT', 'SQLITE_CORRUPT_INDEX', 'SQLITE_NOTADB', 'SQLITE_IOERR_READ'])(
    'is what SQLite reports as %s',
    (code) => {
      expect(isDamage(failure(code))).toBe(true);
    },
  );

  it.each(['XX000', 'XX001', 'XX002', '22021'])('is what PostgreSQL reports as %s', (code) => {
    expect(isDamage(failure(code))).toBe(true);
  });

  it('is a text that does not parse', () => {
    expect(isDamage(new SyntaxError('Unexpected token'))).toBe(true);
  });

  it.each(['SQLITE_BUSY', 'NOT_SQLITE_CORRUPT', '57014', '', undefined])(
    'is not what an engine reports as %s',
    (code) => {
      expect(isDamage(failure(code))).toBe(false);
    },
  );

  it('is not an error without a code, nor anything that is no error', () => {
    expect(isDamage(new Error('broken'))).toBe(false);
    expect(isDamage({ code: 'SQLITE_CORRUPT' })).toBe(false);
    expect(isDamage(undefined)).toBe(false);
  });

  it('is named with the entries that cannot be read', async () => {
    const problems = new Problems();
    const fail = () => Promise.reject(failure('SQLITE_CORRUPT'));
    await nameDamage(problems, 'Entries 3 to 5', fail, { from: 3, to: 5 });
    await nameDamage(problems, 'The payloads', fail);
    expect(problems.list).toStrictEqual([
      {
        code: 'store',
        seq: 3,
        message: 'Entries 3 to 5 cannot be read: the database is damaged (broken).',
        to: 5,
      },
      {
        code: 'store',
        seq: undefined,
        message: 'The payloads cannot be read: the database is damaged (broken).',
      },
    ]);
  });

  it('is not named where the work succeeds or fails for another reason', async () => {
    const problems = new Problems();
    await nameDamage(problems, 'The payloads', () => Promise.resolve());
    const other = failure('SQLITE_BUSY');
    await expect(nameDamage(problems, 'The payloads', () => Promise.reject(other))).rejects.toBe(other);
    expect(problems.list).toEqual([]);
  });
});
