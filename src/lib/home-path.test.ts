import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { homePath } from './file-error.ts';

describe('a path as people write it', () => {
  it.each([
    ['~', homedir()],
    ['~/study.qda', join(homedir(), 'study.qda')],
    ['study.qda', resolve('study.qda')],
    ['/a/../b', resolve('/b')],
    // Another person's home is not known here; the name may as well be a file's.
    ['~ada/x', resolve('~ada/x')],
    ['a/~/b', resolve('a/~/b')],
  ])('%s is %s', (given, full) => {
    expect(homePath(given)).toBe(full);
  });
});
