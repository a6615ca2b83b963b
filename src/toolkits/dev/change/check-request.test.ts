import { describe, expect, it } from 'vitest';
import { dev } from '../config.ts';
import { checkRequest } from './check-request.ts';

const limits = dev.schema.parse({});
const request = (more: object) => ({
  baseBranch: 'main',
  headBranch: 'fix/x',
  message: 'm',
  title: 't',
  files: [{ path: 'a.txt', modified_content: 'x' }],
  ...more,
});
const withPath = (path: string) => request({ files: [{ path, modified_content: 'x' }] });

/** What the documented policy calls each. */
const PATHS: readonly (readonly [path: string, reason: string])[] = [
  ['', 'path_policy_empty'],
  ['   ', 'path_policy_empty'],
  ['..', 'path_policy_traversal'],
  ['.', 'path_policy_traversal'],
  ['../x', 'path_policy_traversal'],
  ['a/../../x', 'path_policy_traversal'],
  ['a/./b', 'path_policy_traversal'],
  ['a//b', 'path_policy_traversal'],
  ['a/', 'path_policy_traversal'],
  ['/etc/passwd', 'path_policy_traversal'],
  ['//host/share', 'path_policy_traversal'],
  ['~/x', 'path_policy_traversal'],
  ['~root/x', 'path_policy_traversal'],
  ['C:\\x', 'path_policy_forbidden'],
  ['C:/x', 'path_policy_forbidden'],
  ['a\\..\\x', 'path_policy_forbidden'],
  ['..\\x', 'path_policy_forbidden'],
  ['a\0b', 'path_policy_forbidden'],
  ['a\nb', 'path_policy_forbidden'],
  ['a\tb', 'path_policy_forbidden'],
  ['a\x7fb', 'path_policy_forbidden'],
  ['-rf', 'path_policy_forbidden'],
  ['--output=x', 'path_policy_forbidden'],
  ['.git/config', 'path_policy_forbidden'],
  ['.git', 'path_policy_forbidden'],
  ['.GIT/config', 'path_policy_forbidden'],
  ['.Git/hooks/pre-commit', 'path_policy_forbidden'],
  ['sub/.git/config', 'path_policy_forbidden'],
  ['.git./config', 'path_policy_forbidden'],
  ['.git /config', 'path_policy_forbidden'],
  ['git~1/config', 'path_policy_forbidden'],
  ['GIT~2/config', 'path_policy_forbidden'],
  ['gi7eba~1/x', 'path_policy_forbidden'],
  ['.g\u200cit/config', 'path_policy_forbidden'],
  ['.\u2060git/config', 'path_policy_forbidden'],
  ['．git/config', 'path_policy_forbidden'],
  ['.ｇit/config', 'path_policy_forbidden'],
  ['.git::$INDEX_ALLOCATION/config', 'path_policy_forbidden'],
  ['a:stream', 'path_policy_forbidden'],
  ['a/*.txt', 'path_policy_forbidden'],
  ['a\u061cb', 'path_policy_forbidden'],
  ['a\u00adb', 'path_policy_forbidden'],
  ['a\u{e0041}b', 'path_policy_forbidden'],
  ['a\u3164b', 'path_policy_forbidden'],
  ['a\ud800b', 'path_policy_forbidden'],
  ['.gitea/workflows/x.yml', 'path_policy_forbidden'],
  ['.forgejo/workflows/x.yml', 'path_policy_forbidden'],
  ['Jenkinsfile', 'path_policy_forbidden'],
  ['.travis.yml', 'path_policy_forbidden'],
  ['azure-pipelines.yml', 'path_policy_forbidden'],
  ['.buildkite/pipeline.yml', 'path_policy_forbidden'],
  ['a?.txt', 'path_policy_forbidden'],
  ['"quoted"', 'path_policy_forbidden'],
  ['a|b', 'path_policy_forbidden'],
  ['<script>', 'path_policy_forbidden'],
  ['evil\u202etxt.exe', 'path_policy_forbidden'],
  ['CON', 'path_policy_forbidden'],
  ['src/nul.txt', 'path_policy_forbidden'],
  ['aux.c', 'path_policy_forbidden'],
  ['COM1', 'path_policy_forbidden'],
  ['x/lpt9.log', 'path_policy_forbidden'],
  ['trailing./x', 'path_policy_forbidden'],
  ['trailing /x', 'path_policy_forbidden'],
  [' leading', 'path_policy_forbidden'],
  [`${'a/'.repeat(600)}b`, 'path_policy_forbidden'],
  ['x'.repeat(250), 'path_policy_forbidden'],
  ['.github/workflows/ci.yml', 'path_policy_forbidden'],
  ['.GitHub/workflows/ci.yml', 'path_policy_forbidden'],
  ['.github', 'path_policy_forbidden'],
  ['secrets/key.txt', 'path_policy_forbidden'],
  ['pkg/secrets/key.txt', 'path_policy_forbidden'],
  ['.env', 'path_policy_forbidden'],
  ['pkg/.env', 'path_policy_forbidden'],
  ['pkg/.ENV.production', 'path_policy_forbidden'],
  ['.envrc', 'path_policy_forbidden'],
  ['deep/down/server.pem', 'path_policy_forbidden'],
  ['CODEOWNERS', 'path_policy_forbidden'],
  ['docs/CodeOwners', 'path_policy_forbidden'],
  ['.gitmodules', 'path_policy_forbidden'],
  ['.npmrc', 'path_policy_forbidden'],
];

const BRANCHES: readonly (readonly [branch: string, code: string])[] = [
  ['', 'invalid_input'],
  [' ', 'invalid_input'],
  ['-d', 'invalid_input'],
  ['--force', 'invalid_input'],
  ['x/-y', 'invalid_input'],
  ['a..b', 'invalid_input'],
  ['../x', 'invalid_input'],
  ['a//b', 'invalid_input'],
  ['/a', 'invalid_input'],
  ['a/', 'invalid_input'],
  ['a b', 'invalid_input'],
  ['a~1', 'invalid_input'],
  ['a^', 'invalid_input'],
  ['a:b', 'invalid_input'],
  ['a?', 'invalid_input'],
  ['a*', 'invalid_input'],
  ['a[b', 'invalid_input'],
  ['a\\b', 'invalid_input'],
  ['a\0b', 'invalid_input'],
  ['a\nb', 'invalid_input'],
  ['a@{1}', 'invalid_input'],
  ['@', 'invalid_input'],
  ['HEAD', 'invalid_input'],
  ['head', 'invalid_input'],
  ['FETCH_HEAD', 'invalid_input'],
  ['ORIG_HEAD', 'invalid_input'],
  ['stash', 'invalid_input'],
  ['refs/heads/x', 'invalid_input'],
  ['Refs/heads/x', 'invalid_input'],
  ['heads/x', 'invalid_input'],
  ['tags/v1', 'invalid_input'],
  ['remotes/origin/x', 'invalid_input'],
  ['.hidden', 'invalid_input'],
  ['a/.b', 'invalid_input'],
  ['a.', 'invalid_input'],
  ['x.lock', 'invalid_input'],
  ['x.LOCK/y', 'invalid_input'],
  ['con', 'invalid_input'],
  ['fix/NUL', 'invalid_input'],
  ['a'.repeat(40), 'invalid_input'],
  ['abc1234', 'invalid_input'],
  ['10302A131d9f', 'invalid_input'],
  ['origin/main', 'invalid_input'],
  ['Origin/main', 'invalid_input'],
  ['HEAD/x', 'invalid_input'],
  ['$(reboot)', 'invalid_input'],
  ['`reboot`', 'invalid_input'],
  ['a;reboot', 'invalid_input'],
  ['fix/ünï', 'invalid_input'],
  ['x'.repeat(201), 'invalid_input'],
  ['main', 'invalid_input'],
  ['MAIN', 'invalid_input'],
  ['master', 'not_allowed'],
  ['Master', 'not_allowed'],
  ['release/1.2', 'not_allowed'],
  ['release/a/b', 'not_allowed'],
];

describe('checkRequest', () => {
  it.each(PATHS.map(([path, reason]) => [path.slice(0, 40), reason, path] as const))(
    'refuses the path %j as %s',
    (_shown, reason, path) => {
      expect(() => checkRequest(withPath(path), limits)).toThrow(
        expect.objectContaining({ code: 'not_allowed', detail: expect.objectContaining({ reason }) }),
      );
    },
  );

  it.each(BRANCHES.map(([branch, code]) => [branch.slice(0, 40), code, branch] as const))(
    'refuses the new branch %j with %s',
    (_shown, code, branch) => {
      expect(() => checkRequest(request({ headBranch: branch }), limits)).toThrow(
        expect.objectContaining({ code }),
      );
    },
  );

  it('covers at least sixty hostile names of each kind together', () => {
    expect(PATHS.length + BRANCHES.length).toBeGreaterThanOrEqual(120);
  });

  it.each([
    'a b.txt',
    'src/[id]/page.tsx',
    'ünï/文件.md',
    '.gitignore',
    'gitlab/x',
    'a.git/x',
    '.environment',
    'src/secretsanta.ts',
    'nullable.ts',
    'console.c',
    "it's.txt",
    'a,b=c@d+e#f.txt',
  ])('lets the path %j through', (path) => expect(() => checkRequest(withPath(path), limits)).not.toThrow());

  it.each([
    'fix/a',
    'agent/2026-01-01_x',
    'dependabot/npm/x@1',
    'feature+1',
    'maintenance',
    'x.y',
    '20260101',
    'defaced',
    'original/x',
  ])('lets the branch %j through', (headBranch) =>
    expect(() => checkRequest(request({ headBranch }), limits)).not.toThrow(),
  );

  it('refuses a hostile base branch too', () => {
    expect(() => checkRequest(request({ baseBranch: '--all' }), limits)).toThrow('base_branch');
    expect(() => checkRequest(request({ baseBranch: 'origin/main' }), limits)).toThrow(
      'without origin/ in front',
    );
  });

  it.each([[['a.txt', 'A.TXT']], [['é.txt', 'e\u0301.txt']], [['a', 'a/b']], [['x/y', 'X/Y/z']]])(
    'refuses files that some file system takes for one: %j',
    (paths) => {
      const files = paths.map((path) => ({ path, modified_content: 'x' }));
      expect(() => checkRequest(request({ files }), limits)).toThrow(
        expect.objectContaining({ code: 'not_allowed' }),
      );
    },
  );

  it('holds the number of files, the size of each and the size of all together to their limits', () => {
    const files = (count: number, size: number) =>
      Array.from({ length: count }, (_, n) => ({ path: `f${n}`, modified_content: 'é'.repeat(size / 2) }));
    const small = { ...limits, max_files: 3, max_file_bytes: 100, max_change_bytes: 250 };
    expect(() => checkRequest(request({ files: files(2, 100) }), small)).not.toThrow();
    expect(() => checkRequest(request({ files: files(4, 10) }), small)).toThrow('max_files');
    expect(() => checkRequest(request({ files: files(1, 102) }), small)).toThrow('max_file_bytes');
    expect(() => checkRequest(request({ files: files(3, 100) }), small)).toThrow('max_change_bytes');
  });

  it('obeys the globs of the configuration', () => {
    const own = { ...limits, protected_paths: ['**/package-lock.json', 'infra/', 'docs/*.md', '*.sql'] };
    for (const path of ['package-lock.json', 'a/b/package-lock.json', 'infra/a/b', 'docs/x.md', 'db/x.SQL']) {
      expect(() => checkRequest(withPath(path), own)).toThrow('dev.protected_paths');
    }
    for (const path of ['infrastructure/x', 'docs/a/x.md', 'docs/x.mdx', 'a/infra/x']) {
      expect(() => checkRequest(withPath(path), own)).not.toThrow();
    }
  });
});
