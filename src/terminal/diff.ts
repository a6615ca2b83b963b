import type { ChangePreview } from '../contract/preview.ts';
import { previewDiff } from '../lib/preview-diff.ts';
import { showUnseenLine } from '../lib/unseen.ts';
import { hasColor, paint } from './color.ts';
import { print, printExact, table, WHOLE } from './output.ts';
import { counted, plainText } from './text.ts';

/** Into a pipe byte for byte; on a terminal nothing in it may steer the terminal. */
export function printDiff(diff: Buffer): void {
  if (process.stdout.isTTY) print(readable(diff).text);
  else printExact(diff);
}

/** A change with a line per file, then the diff itself. */
export function printChange(preview: ChangePreview): void {
  print(preview.base_commit === '' ? '\nFiles' : `\nFiles (against ${preview.base_commit.slice(0, 12)})`);
  const rows = preview.files.map((file) => [
    showUnseenLine(file.previous_path === undefined ? file.path : `${file.previous_path} → ${file.path}`),
    file.status,
    file.binary ? 'binary' : `+${file.additions}`,
    file.binary ? '' : `-${file.deletions}`,
    file.old_mode !== undefined && file.new_mode !== undefined && file.old_mode !== file.new_mode
      ? `${file.old_mode} → ${file.new_mode}`
      : '',
  ]);
  const lines = preview.files.reduce(
    (sum, { additions, deletions }) => ({ added: sum.added + additions, deleted: sum.deleted + deletions }),
    { added: 0, deleted: 0 },
  );
  print(table(['FILE', 'STATUS', '+', '-', 'MODE'], rows, WHOLE));
  print(`${counted(preview.files.length, 'file')}, +${lines.added} -${lines.deleted}\n`);
  const { text, isExact } = readable(previewDiff(preview));
  if (!isExact)
    print('Characters that are not seen are written out, such as ‹U+202E›; --diff prints the exact bytes.\n');
  printExact(text);
}

/** Everything but characters that steer a terminal; a carriage return is kept where it only ends a line. */
function readable(diff: Buffer): { text: string; isExact: boolean } {
  const exact = diff.toString('utf8');
  const plain = exact
    .split('\r\n')
    .map((part) => part.split('\n').map(plainText).join('\n'))
    .join('\r\n');
  const text = hasColor() ? plain.split('\n').map(colored).join('\n') : plain;
  return { text, isExact: plain === exact };
}

function colored(line: string): string {
  if (line.startsWith('+')) return paint('green', line);
  if (line.startsWith('-')) return paint('red', line);
  return line.startsWith('@@') ? paint('cyan', line) : line;
}
