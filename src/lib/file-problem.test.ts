import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileProblem } from './file-problem.ts';

const caught = (work: () => void): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('fileProblem', () => {
  it('says in plain words which path failed and why', () => {
    const missing = join(tmpdir(), 'countersign-nowhere', 'x.json');
    expect(fileProblem(caught(() => readFileSync(missing)))).toBe(
      `${missing} cannot be used: there is no folder ${join(tmpdir(), 'countersign-nowhere')}.`,
    );
    expect(fileProblem(caught(() => writeFileSync(tmpdir(), '')))).toBe(
      `${tmpdir()} cannot be used: this is a folder, not a file.`,
    );
    const file = join(tmpdir(), 'countersign-no-such-file');
    expect(fileProblem(caught(() => readFileSync(file)))).toBe(
      `${file} cannot be used: there is no such file.`,
    );
    expect(fileProblem(caught(() => mkdirSync(process.execPath, { recursive: true })))).toBe(
      `${process.execPath} cannot be used: this is a file, not a folder.`,
    );
    const below = join(process.execPath, 'x');
    expect(fileProblem(caught(() => mkdirSync(below, { recursive: true })))).toBe(
      `${below} cannot be used: a part of this path is a file, not a folder.`,
    );
  });

  it('leaves other errors alone, a missing program among them', () => {
    expect(fileProblem(new Error('no'))).toBeUndefined();
    expect(fileProblem('ENOENT')).toBeUndefined();
    expect(fileProblem(spawnSync('countersign-no-such-program').error)).toBeUndefined();
  });
});
