import { existsSync, readFileSync } from 'node:fs';
import { createTwoFilesPatch } from 'diff';
import type { Detected } from '../../clients/connect.ts';
import type { ClientFormat } from '../../clients/formats.ts';
import {
  changedSince,
  type FileChange,
  forgetRecord,
  latestRecord,
  recordFiles,
  restoreFiles,
  saveRecord,
} from '../../clients/records.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { looksSecret } from '../../gateway/secrets.ts';
import { replaceFile } from '../../lib/replace-file.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { print, printJson } from '../../terminal/output.ts';
import { plainText } from '../../terminal/text.ts';

/** Given in advance with --yes, asked for each file on a terminal, or impossible to ask for. */
export type Consent = 'given' | 'ask' | 'none';

interface Connected {
  readonly client: string;
  readonly path: string;
  readonly state: 'connected' | 'already_connected' | 'not_written' | 'not_editable';
  readonly diff?: string;
  readonly problem?: string;
}

/** Shows each change, writes those that are agreed to, and returns the clients that are left to the person. */
export async function connectClients(
  global: GlobalOptions,
  detected: readonly Detected[],
  how: Consent,
  dataDir: string,
): Promise<{ connected: Connected[]; rest: ClientFormat[] }> {
  const show = (text: string): void => (global.json ? undefined : print(text));
  const agreed: FileChange[] = [];
  const connected: Connected[] = [];
  for (const { client, path, change, problem } of detected) {
    const common = { client: client.name, path };
    if (!change) {
      show(
        problem
          ? `\n${client.title}: ${path} was left unchanged: ${problem}`
          : `\n${client.title} is already connected.`,
      );
      connected.push(
        problem ? { ...common, state: 'not_editable', problem } : { ...common, state: 'already_connected' },
      );
      continue;
    }
    const diff = shownDiff(change);
    show(`\n${client.title}\n${diff}`);
    const isAgreed = how === 'given' || (how === 'ask' && (await askYesNo(`Write this change to ${path}?`)));
    if (isAgreed) agreed.push(change);
    connected.push({ ...common, state: isAgreed ? 'connected' : 'not_written', diff });
  }
  if (agreed.length > 0) {
    const backup = apply(agreed, dataDir);
    show(
      `\nConnected: ${agreed.map(({ path }) => path).join(', ')}\nBackup: ${backup}\nUndo it with: countersign init --undo`,
    );
  }
  const isLeft = ({ client, path }: Detected): boolean =>
    connected.some(
      (one) =>
        one.client === client.name &&
        one.path === path &&
        (one.state === 'not_editable' || (one.state === 'not_written' && how === 'ask')),
    );
  return { connected, rest: [...new Set(detected.filter(isLeft).map(({ client }) => client))] };
}

/** The record first: if anything stops it, undoing works. */
function apply(changes: readonly FileChange[], dataDir: string): string {
  const other = changes.find(({ path, before }) => !isUnchanged(path, before));
  if (other) throw new CliError(`${other.path} changed in the meantime. Nothing was written; run it again.`);
  const backup = saveRecord(dataDir, 'init', { at: new Date().toISOString(), files: recordFiles(changes) });
  for (const { path, after } of changes) replaceFile(path, after);
  return backup;
}

const isUnchanged = (path: string, before: Buffer | undefined): boolean =>
  before ? existsSync(path) && readFileSync(path).equals(before) : !existsSync(path);

/** Credentials of other servers are not repeated on the screen; the file keeps them. */
function shownDiff({ path, before, after }: FileChange): string {
  const patch = createTwoFilesPatch(
    before ? path : '/dev/null',
    path,
    before?.toString('utf8') ?? '',
    after,
    undefined,
    undefined,
    { context: 2 },
  );
  const masked = patch
    .replace(/^=+\n/, '')
    .replace(
      /([\w.-]+)(["']?\s*[:=]\s*["']?)([^"'\s,{}[\]][^"',{}\n]*)/g,
      (whole, key: string, between: string) => (looksSecret(key) ? `${key}${between}…` : whole),
    );
  const note =
    masked === patch.replace(/^=+\n/, '')
      ? ''
      : '\n(Values that look like credentials are shown as … only here.)';
  return `${plainText(masked).trimEnd()}${note}`;
}

/** Restores the files of the latest `init` to the byte, and deletes those that it created. */
export function undoConnections(global: GlobalOptions, dataDir: string, force: boolean): void {
  const latest = latestRecord(dataDir, 'init');
  if (!latest) throw new CliError('Nothing to undo: no change to a client by `countersign init` is stored.');
  const changed = changedSince(latest.record);
  if (changed.length > 0 && !force)
    throw new CliError(
      `Changed since \`countersign init\`: ${changed.join(', ')}. Undoing would lose that; repeat with --force to restore the earlier file anyway.`,
    );
  restoreFiles(latest.record);
  forgetRecord(latest.path);
  const paths = latest.record.files.map(({ path }) => path);
  if (global.json) printJson({ restored: paths });
  else print(`Undone: restored ${paths.join(', ')}. The configuration of Countersign stays.`);
}
