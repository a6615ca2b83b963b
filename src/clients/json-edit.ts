import { applyEdits, createScanner, findNodeAtLocation, modify, type Node, parseTree } from 'jsonc-parser';

/** What was written into a client's file: a key, or one item of the list there. */
export interface WrittenKey {
  readonly path: readonly string[];
  readonly item?: string;
}

/** Sets what is at a path; a number appends to the list there. */
export function editJson(text: string, path: readonly (string | number)[], value: unknown): string {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  const formattingOptions = {
    insertSpaces: !indent.includes('\t'),
    tabSize: indent.includes('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  const start = text.trim() === '' ? '{}\n' : text;
  return applyEdits(start, modify(start, [...path], value, { formattingOptions }));
}

export function removeJson(text: string, { path, item }: WrittenKey): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const found = root && findNodeAtLocation(root, [...path]);
  const node = item === undefined ? found?.parent : found?.children?.find(({ value }) => value === item);
  return node ? removeNode(text, node) : text;
}

/** Cuts the node and one comma; lines that it had for itself go, all comments stay. */
function removeNode(text: string, node: Node): string {
  const siblings = node.parent?.children ?? [];
  const previous = siblings[siblings.indexOf(node) - 1];
  const end = endOf(node);
  const comma = commaAfter(text, end) ?? (previous && commaAfter(text, endOf(previous)));
  const from = node.offset;
  const to = comma !== undefined && comma >= end && /^\s*$/.test(text.slice(end, comma)) ? comma + 1 : end;
  const lineStart = text.lastIndexOf('\n', from) + 1;
  const lineEnd = /^[ \t]*\r?\n/.exec(text.slice(to))?.[0].length;
  const ownsLines = /^\s*$/.test(text.slice(lineStart, from)) && lineEnd !== undefined;
  const blank = to > end ? /^[ \t]*/.exec(text.slice(to))?.[0].length : 0;
  const cuts: [number, number][] = ownsLines ? [[lineStart, to + lineEnd]] : [[from, to + (blank ?? 0)]];
  if (comma !== undefined && to === end) cuts.push([comma, comma + 1]);
  const cut = cuts
    .toSorted(([a], [b]) => b - a)
    .reduce((rest, [start, stop]) => rest.slice(0, start) + rest.slice(stop), text);
  if (siblings.length > 1 || !node.parent) return cut;
  const { offset } = node.parent;
  return cut.slice(0, offset) + cut.slice(offset).replace(/^([{[])\s*([}\]])/, '$1$2');
}

const endOf = ({ offset, length }: Node): number => offset + length;

/** Where the comma after this place is, with nothing but comments in between. */
function commaAfter(text: string, place: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(place);
  scanner.scan();
  const found = scanner.getTokenOffset();
  return text[found] === ',' ? found : undefined;
}
