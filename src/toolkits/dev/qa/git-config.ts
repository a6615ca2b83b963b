import type { Clone } from '../git/clone.ts';

/** What git must know to read the repository. Remotes, helpers and headers stay out: they may carry passwords. */
const KEPT =
  /^(extensions\..+|core\.(repositoryformatversion|bare|filemode|ignorecase|precomposeunicode|symlinks|autocrlf|eol|worktree))$/;

/** A configuration file of a clone as a confined command may see it; nothing of a file that is not there. */
export async function harmlessConfig(clone: Clone, file: string): Promise<string> {
  const listed = await clone.run(['config', '--file', file, '--list', '-z'], { answers: [1, 128] });
  const lines = listed.stdout.toString('utf8').split('\0').filter(Boolean);
  return lines
    .map((line) => {
      const [key = '', value] = splitOnce(line, '\n');
      const [section, name] = splitOnce(key, '.');
      if (!KEPT.test(key) || name === undefined) return '';
      return `[${section}]\n\t${name}${value === undefined ? '' : ` = ${JSON.stringify(value)}`}\n`;
    })
    .join('');
}

function splitOnce(text: string, at: string): [string, string | undefined] {
  const index = text.indexOf(at);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + at.length)];
}
