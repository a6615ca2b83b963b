import { z } from 'zod';
import type { JsonObject } from '../../contract/json.ts';
import { plainText } from '../plain-text.ts';

const edits = z.array(
  z.object({ path: z.string(), original_content: z.string().optional(), modified_content: z.string() }),
);

/** The files of a proposed code change as a person reads them: a diff. Undefined for any other call. */
export async function proposedDiff(args: JsonObject): Promise<string | undefined> {
  const files = edits.safeParse(args.files).data;
  if (!files) return undefined;
  const { filePatch } = await import('../../toolkits/dev/patch/unified.ts');
  const parts = files.map(({ path, original_content: before, modified_content: after }) => {
    const patch = filePatch({ path, before: before || undefined, after });
    return before === undefined ? `${path}, whole, whatever it holds on the base:\n${patch}` : patch;
  });
  return readable(parts.join(''));
}

/** Coloured on a terminal; nothing in it may steer the terminal. */
export function readable(diff: string): string {
  const plain = plainText(diff).trimEnd();
  return process.stdout.isTTY ? plain.split('\n').map(colored).join('\n') : plain;
}

function colored(line: string): string {
  if (line.startsWith('+')) return `\u001b[32m${line}\u001b[0m`;
  if (line.startsWith('-')) return `\u001b[31m${line}\u001b[0m`;
  return line.startsWith('@@') ? `\u001b[36m${line}\u001b[0m` : line;
}
