import { isRecord, type JsonRecord } from '../../ui/session.ts';

/** A change of a file that the arguments of a third-party tool describe. */
export interface FileEdit {
  readonly path: string;
  /** Undefined where the arguments only have the new content. */
  readonly before: string | undefined;
  readonly after: string;
}

const PATHS = ['path', 'filepath', 'file', 'filename', 'targetfile', 'uri'];
const OLD = ['oldtext', 'oldstring', 'oldstr', 'oldcontent', 'originalcontent', 'search', 'before'];
const NEW = ['newtext', 'newstring', 'newstr', 'newcontent', 'modifiedcontent', 'replace', 'after'];
const CONTENTS = ['content', 'contents', 'filetext', 'filecontent', 'filecontents'];

const plain = (name: string): string => name.replace(/[^a-z]/giu, '').toLowerCase();

/** The first argument with one of these names, however it is written. */
function textOf(args: JsonRecord, names: readonly string[]): { name: string; text: string } | undefined {
  for (const [name, value] of Object.entries(args))
    if (typeof value === 'string' && names.includes(plain(name))) return { name, text: value };
  return undefined;
}

function pairOf(args: JsonRecord) {
  const before = textOf(args, OLD);
  const after = textOf(args, NEW);
  return before && after ? { before, after } : undefined;
}

/** File edits among the arguments, and the names of the arguments that they show completely. */
export function findEdits(
  args: JsonRecord,
): { readonly edits: readonly FileEdit[]; readonly covers: readonly string[] } | undefined {
  const path = textOf(args, PATHS);
  const at = path?.text ?? 'text';
  const own = pairOf(args);
  if (own)
    return {
      edits: [{ path: at, before: own.before.text, after: own.after.text }],
      covers: [...(path ? [path.name] : []), own.before.name, own.after.name],
    };
  for (const [name, value] of Object.entries(args)) {
    if (!Array.isArray(value) || value.length === 0) continue;
    const pairs = value.map((one) => {
      const pair = isRecord(one) ? pairOf(one) : undefined;
      const part = isRecord(one) ? textOf(one, PATHS)?.text : undefined;
      return pair && { path: part ?? at, before: pair.before.text, after: pair.after.text };
    });
    const edits = pairs.filter((pair) => pair !== undefined);
    // An edit with more than its texts is listed as well, because nothing may stay hidden.
    const simple = value.every((one) => isRecord(one) && Object.keys(one).length <= 3);
    if (edits.length === value.length)
      return { edits, covers: [...(path ? [path.name] : []), ...(simple ? [name] : [])] };
  }
  const content = textOf(args, CONTENTS);
  return path && content
    ? {
        edits: [{ path: path.text, before: undefined, after: content.text }],
        covers: [path.name, content.name],
      }
    : undefined;
}
