import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeFileError } from './file-error.ts';

const caught = (work: () => void): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('describeFileError', () => {
  it('says in plain words which path failed and why', () => {
    const missing = join(tmpdir(), 'countersign-nowhere', 'x.json');
    expect(describeFileError(caught(() => readFileSync(missing)))).toBe(
      `Cannot use ${missing}: no directory ${join(tmpdir(), 'countersign-nowhere')}.`,
    );
    expect(describeFileError(caught(() => writeFileSync(tmpdir(), '')))).toBe(
      `Cannot use ${tmpdir()}: this is a directory, not a file.`,
    );
    const file = join(tmpdir(), 'countersign-no-such-file');
    expect(describeFileError(caught(() => readFileSync(file)))).toBe(`Cannot use ${file}: no such file.`);
    expect(describeFileError(caught(() => mkdirSync(process.execPath, { recursive: true })))).toBe(
      `Cannot use ${process.execPath}: this is a file, not a directory.`,
    );
    const below = join(process.execPath, 'x');
    expect(describeFileError(caught(() => mkdirSync(below, { recursive: true })))).toBe(
      `Cannot use ${below}: a part of this path is a file, not a directory.`,
    );
  });

  it('leaves other errors alone, a missing program among them', () => {
    expect(describeFileError(new Error('no'))).toBeUndefined();
    expect(describeFileError('ENOENT')).toBeUndefined();
    expect(describeFileError(spawnSync('countersign-no-such-program').error)).toBeUndefined();
  });
});
