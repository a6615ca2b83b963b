import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClone } from '../git/clone.ts';
import { cloneTree } from '../git/clone-tree.ts';
import { git, makeRepo, tempFolder } from '../test/support/dev.ts';
import { locate, type TreeSource } from './locate.ts';

describe('locate', () => {
  const folder = tempFolder();
  let source: TreeSource;

  beforeAll(async () => {
    const inner = makeRepo(join(folder, 'inner'));
    const repo = makeRepo(join(folder, 'repo'), { 'src/a.txt': 'a\n', plain: 'x\n', 'tab\tname': 'odd\n' });
    symlinkSync('/etc', join(repo, 'etc'));
    symlinkSync('src', join(repo, 'link'));
    symlinkSync('a.txt', join(repo, 'src/alias'));
    git(repo, 'update-index', '--add', '--cacheinfo', `160000,${git(inner, 'rev-parse', 'HEAD')},module`);
    git(repo, 'add', 'etc', 'link', 'src/alias');
    writeFileSync(join(repo, 'empty'), '');
    git(repo, 'add', 'empty');
    git(repo, 'commit', '-q', '-m', 'odd things');
    const clone = await openClone(repo);
    source = await cloneTree(clone, git(repo, 'rev-parse', 'HEAD'), AbortSignal.timeout(10_000));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('finds files and knows when there is none', async () => {
    expect(await locate(source, 'src/a.txt')).toMatchObject({ mode: '100644', size: 2 });
    expect(await locate(source, 'empty')).toMatchObject({ size: 0 });
    expect(await locate(source, 'src/b.txt')).toBeUndefined();
    expect(await locate(source, 'new/deep/b.txt')).toBeUndefined();
  });

  it.each([
    ['etc/passwd', 'path_policy_symlink'],
    ['etc', 'path_policy_symlink'],
    ['link/a.txt', 'path_policy_symlink'],
    ['src/alias', 'path_policy_symlink'],
    ['module/x', 'path_policy_symlink'],
    ['module', 'path_policy_symlink'],
    ['plain/x', 'path_policy_forbidden'],
    ['src', 'path_policy_forbidden'],
    ['SRC/new.txt', 'path_policy_forbidden'],
    ['src/A.txt', 'path_policy_forbidden'],
    ['LINK/a.txt', 'path_policy_forbidden'],
    ['ſrc/new.txt', 'path_policy_forbidden'],
  ])('refuses %s as %s', async (path, reason) => {
    await expect(locate(source, path)).rejects.toMatchObject({
      code: 'not_allowed',
      detail: { reason, path },
    });
  });
});
