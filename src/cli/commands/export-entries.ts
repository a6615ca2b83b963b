import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { untilStopped } from '../../daemon/listen.ts';
import type { LogReader } from '../../kernel/log/open.ts';
import { type EntryFormat, formatEntry } from '../../kernel/log/stream.ts';
import { describeDatabaseError } from '../../lib/database-error.ts';
import { printLine, printStderr, startProgress } from '../../terminal/output.ts';
import { counted } from '../../terminal/text.ts';
import { withLog } from '../context.ts';

export interface EntryOptions {
  readonly follow?: boolean;
  readonly after?: string;
  readonly output?: string;
  readonly sign?: boolean;
}

/** One line for each entry. A collector that stopped continues with `--after` and the `seq` of its last line. */
export async function exportEntries(
  global: GlobalOptions,
  format: EntryFormat,
  { follow, after, output, sign }: EntryOptions,
): Promise<void> {
  if (output !== undefined || sign) throw new CliError('--output and --sign need --run.', 2);
  if (after !== undefined && !/^\d{1,15}$/.test(after))
    throw new CliError(`"${after}" is not a position. Use the seq of the last entry you have.`, 2);
  const stop = new AbortController();
  if (follow) void untilStopped().then(() => stop.abort());
  let last = after === undefined ? -1 : Number(after);
  await withLog(global, async (log) => {
    if (after !== undefined) await warnBeyondEnd(log, last);
    const entries = log.entries({
      follow,
      after: last,
      signal: stop.signal,
      onError: (error) =>
        printStderr(`Warning: ${describeDatabaseError(error) ?? String(error)} Trying again.`),
    });
    // Lines that scroll by on the same screen say enough.
    const progress = process.stdout.isTTY || follow ? undefined : startProgress();
    const warn = (text: string): void => {
      progress?.end();
      printStderr(`Warning: ${text}`);
      if (!follow) process.exitCode = 1;
    };
    let done = 0;
    for await (const streamed of entries) {
      const { seq, entry } = streamed;
      if (seq > last + 1) warn(describeMissing(last + 1, seq - 1));
      last = seq;
      if (!entry)
        warn(
          `Entry ${seq} is invalid: it cannot be read or does not match its hash. Run \`countersign audit verify\`.`,
        );
      await printLine(formatEntry(streamed, format));
      done += 1;
      progress?.show(`Exported ${counted(done, 'entry', 'entries')}`, done, undefined);
    }
    progress?.end();
  });
}

const describeMissing = (from: number, to: number): string =>
  from === to ? `Entry ${from} is missing.` : `Entries ${from} to ${to} are missing.`;

/** A position from another log, or a mistyped one, would look like a log without news. */
async function warnBeyondEnd(log: LogReader, after: number): Promise<void> {
  const size = await log.size();
  if (after >= size)
    printStderr(
      `Warning: the audit log has only ${counted(size, 'entry', 'entries')}, so none comes after position ${after}.`,
    );
}
