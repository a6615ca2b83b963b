import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder } from './file-error.ts';

describe('makeFolder', () => {
  const root = mkdtempSync(join(tmpdir(), 'countersign-folder-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('makes a folder with those above it, for the owner alone when asked, and leaves one that is there', () => {
    const path = join(root, 'a', 'b', 'c');
    makeFolder(path, 0o700);
    makeFolder(path);
    expect(statSync(path).isDirectory()).toBe(true);
    if (process.platform !== 'win32') expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700);
  });

  it('fails below a file and in place of one', () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    expect(() => makeFolder(file)).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    expect(() => makeFolder(join(file, 'x', 'y'))).toThrow(/EEXIST|ENOTDIR/);
  });

  it('fails where the system makes no directories and says which one', () => {
    // Linux's /proc reports a missing parent, on which Node's own recursive mkdir never ends. Other systems have no such place.
    const file = join(root, 'no-directory');
    writeFileSync(file, '');
    const nowhere = existsSync('/proc/self') ? '/proc/nope' : file;
    expect(() => makeFolder(join(nowhere, 'below'))).toThrow(expect.objectContaining({ path: nowhere }));
  });
});
