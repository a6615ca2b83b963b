import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filePatch, lineDelta } from './unified-diff.ts';

const lines = (count: number, write: (n: number) => string = (n) => `line ${n}`) =>
  `${Array.from({ length: count }, (_, n) => write(n)).join('\n')}\n`;
const swap = (text: string, n: number, by: string) =>
  text
    .split('\n')
    .map((line, index) => (index === n ? by : line))
    .join('\n');
const ten = lines(10);
const long = lines(300);

/** path, before (undefined: new), after */
const CASES: readonly (readonly [title: string, path: string, before: string | undefined, after: string])[] =
  [
    ['a new file', 'new.txt', undefined, 'one\ntwo\n'],
    ['a new file without final newline', 'new.txt', undefined, 'one\ntwo'],
    ['a new file of one line', 'new.txt', undefined, 'x\n'],
    ['a new file of one character', 'new.txt', undefined, 'x'],
    ['a new empty file', 'empty.txt', undefined, ''],
    ['a new file holding one newline', 'nl.txt', undefined, '\n'],
    ['a new file in new folders', 'a/b/c/d.txt', undefined, 'deep\n'],
    ['a new file with CRLF', 'crlf.txt', undefined, 'one\r\ntwo\r\n'],
    ['a new file with unicode text', 'u.txt', undefined, 'héllo 世界 🎉\n'],
    ['a new file whose name holds spaces', 'my new file.txt', undefined, 'x\n'],
    ['a new file whose name is not ASCII', 'naïve-文件.txt', undefined, 'x\n'],
    ['a file that was empty', 'a.txt', '', 'one\ntwo\n'],
    ['a file that was empty, without final newline', 'a.txt', '', 'one'],
    ['a file that is emptied', 'a.txt', 'one\ntwo\n', ''],
    ['a file without final newline that is emptied', 'a.txt', 'one', ''],
    ['the first line changed', 'a.txt', ten, swap(ten, 0, 'other')],
    ['the last line changed', 'a.txt', ten, swap(ten, 9, 'other')],
    ['a middle line changed', 'a.txt', ten, swap(ten, 5, 'other')],
    ['two far apart lines changed', 'a.txt', long, swap(swap(long, 3, 'other'), 290, 'other')],
    ['two near lines changed', 'a.txt', long, swap(swap(long, 100, 'other'), 104, 'other')],
    ['lines added at the start', 'a.txt', ten, `first\nsecond\n${ten}`],
    ['lines added at the end', 'a.txt', ten, `${ten}more\nmore\n`],
    ['a line removed at the start', 'a.txt', ten, ten.slice(ten.indexOf('\n') + 1)],
    ['a line removed at the end', 'a.txt', ten, ten.replace('line 9\n', '')],
    ['everything replaced', 'a.txt', ten, lines(8, (n) => `new ${n}`)],
    ['the final newline removed', 'a.txt', ten, ten.slice(0, -1)],
    ['the final newline added', 'a.txt', ten.slice(0, -1), ten],
    ['no final newline before and after', 'a.txt', 'a\nb\nc', 'a\nB\nc'],
    ['the last line changed without final newline', 'a.txt', 'a\nb\nc', 'a\nb\nd'],
    ['a final newline added by appending', 'a.txt', 'a\nb', 'a\nb\nc\n'],
    ['a CRLF line changed', 'a.txt', 'a\r\nb\r\nc\r\n', 'a\r\nB\r\nc\r\n'],
    ['CRLF turned into LF', 'a.txt', 'a\r\nb\r\nc\r\n', 'a\nb\nc\n'],
    ['LF turned into CRLF', 'a.txt', 'a\nb\nc\n', 'a\r\nb\r\nc\r\n'],
    ['mixed line ends', 'a.txt', 'a\r\nb\nc\rd\n', 'a\r\nB\nc\rd\r\n'],
    ['lone carriage returns', 'a.txt', 'a\rb\rc\n', 'a\rB\rc\n'],
    ['unicode text with line separators inside', 'a.txt', 'x\u2028y\u0085z\nü\n', 'x\u2028y\u0085Z\nü\n'],
    ['emoji and combining marks', 'a.txt', '👩‍👩‍👧\ne\u0301\n', '👩‍👩‍👧‍👦\n\u00e9\n'],
    ['a byte order mark', 'a.txt', '\ufeffone\n', '\ufeffONE\n'],
    [
      'lines that look like a patch',
      'a.txt',
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n',
      '--- a/y\n+++ b/x\n@@ -1 +1 @@\ndiff --git a/x b/x\n',
    ],
    [
      'lines that look like a missing newline mark',
      'a.txt',
      '\\ No newline at end of file\n',
      '\\ No newline\n',
    ],
    ['trailing spaces and tabs', 'a.txt', 'a  \n\tb\n', 'a\n\tb\t\n'],
    ['only blank lines', 'a.txt', '\n\n\n', '\n\n\n\n\n'],
    ['a very long line', 'a.txt', `${'x'.repeat(200_000)}\nend\n`, `${'x'.repeat(199_999)}y\nend\n`],
    [
      'more edits than a minimal diff is made for',
      'a.txt',
      lines(6000, (n) => `old ${n}`),
      lines(5500, (n) => `new ${n}`),
    ],
    [
      'very many edits between equal ends',
      'a.txt',
      `${ten}${lines(6000, (n) => `old ${n}`)}${ten}end`,
      `${ten}${lines(5000, (n) => `new ${n}`)}${ten}end`,
    ],
    ['a name with spaces and quotes in the text', 'dir with space/my file.txt', '"a"\n', "'a'\n"],
    ['a name that is not ASCII', 'ünï/文件.md', 'a\n', 'b\n'],
    ['a name that looks like a prefix', 'a/b/a/b.txt', 'a\n', 'b\n'],
  ];

describe('filePatch', () => {
  let folder: string;
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-patch-'));
    git('init', '-q');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const place = (path: string, before: string | undefined) => {
    rmSync(join(folder, path), { force: true });
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (before !== undefined) writeFileSync(join(folder, path), before);
  };

  it.each(CASES)('is applied by git byte for byte for %s', (_title, path, before, after) => {
    place(path, before);
    writeFileSync(join(folder, '.git/patch'), filePatch({ path, before, after }));
    git('apply', '--check', '--whitespace=nowarn', '.git/patch');
    git('apply', '--whitespace=nowarn', '.git/patch');
    expect(readFileSync(join(folder, path), 'utf8') === after).toBe(true);
  });

  it('has at least forty cases', () => expect(CASES.length).toBeGreaterThanOrEqual(40));

  it('joins several files into one patch that git applies whole', () => {
    const files = [
      { path: 'j/one.txt', before: 'a', after: 'b' },
      { path: 'j/two.txt', before: undefined, after: '' },
      { path: 'j/three.txt', before: undefined, after: 'x\ny' },
      { path: 'j/four.txt', before: 'gone\n', after: '' },
    ];
    for (const { path, before } of files) place(path, before);
    writeFileSync(join(folder, '.git/patch'), files.map((file) => filePatch(file)).join(''));
    git('apply', '.git/patch');
    for (const { path, after } of files) expect(readFileSync(join(folder, path), 'utf8')).toBe(after);
  });

  it('keeps the mode of a new executable file', () => {
    place('run.sh', undefined);
    writeFileSync(
      join(folder, '.git/patch'),
      filePatch({ path: 'run.sh', before: undefined, after: '#!/bin/sh\n', mode: '100755' }),
    );
    git('apply', '--index', '.git/patch');
    expect(git('ls-files', '-s', 'run.sh').toString()).toContain('100755');
  });

  it('shows three lines of context and not the whole file', () => {
    const patch = filePatch({ path: 'a.txt', before: long, after: swap(long, 150, 'other') });
    expect(patch.split('\n').filter((line) => line.startsWith(' '))).toHaveLength(6);
    expect(patch).toContain('@@ -148,7 +148,7 @@');
  });

  it('is empty when nothing changes', () => {
    expect(filePatch({ path: 'a.txt', before: 'a', after: 'a' })).toBe('');
  });
});

describe('lineDelta', () => {
  it.each([
    ['', '', 0],
    ['', 'a', 1],
    ['a\nb\n', 'a\n', -1],
    ['a\r\nb\r\n', 'a\nb', 0],
    ['a', 'a\n', 0],
  ])('counts from %j to %j', (before, after, delta) => expect(lineDelta(before, after)).toBe(delta));
});
