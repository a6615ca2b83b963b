import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ToolError } from '../../../contract/errors.ts';
import { lookup } from '../../../lib/lookup.ts';

/** An element of a document, with names as written but without their namespace prefix. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The character data directly in it. */
  readonly text: string;
}

const DEEPEST = 64;
const LONGEST = 300_000_000;

/**
 * Parses XML from a stranger. Documents with a DTD are always refused: none of the formats read here has one, and entities
 * are how XML bombs and file readers are built.
 */
export async function parseXml(text: string, what: string): Promise<XmlElement> {
  if (text.length > LONGEST) throw unreadable(what, `it has more than ${LONGEST} characters`);
  inspect(text, what);
  await yieldToEventLoop();
  const { XMLParser } = await import('fast-xml-parser');
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    removeNSPrefix: true,
    parseTagValue: false,
    parseAttributeValue: false,
    trimValues: false,
    processEntities: true,
    htmlEntities: true,
    ignoreDeclaration: true,
    ignorePiTags: true,
  });
  let nodes: unknown;
  try {
    nodes = parser.parse(text, true);
  } catch (error) {
    throw unreadable(what, `it is not well-formed XML (${(error as Error).message.slice(0, 200)})`);
  }
  const [root] = elementsOf(nodes);
  if (!root) throw unreadable(what, 'it has no root element');
  return root;
}

/** Depth and DTD are checked before the parser builds anything. */
function inspect(text: string, what: string): void {
  let depth = 0;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    if (text.startsWith('<!--', at)) at = end(text, '-->', at, what);
    else if (text.startsWith('<![CDATA[', at)) at = end(text, ']]>', at, what);
    else if (text.startsWith('<!', at))
      throw unreadable(
        what,
        'it has a document type definition, which is never needed here and can be used to attack',
      );
    else if (text.startsWith('<?', at)) at = end(text, '?>', at, what);
    else if (text.startsWith('</', at)) depth -= 1;
    else {
      const close = tagEnd(text, at);
      if (close === -1) throw unreadable(what, 'a tag is not closed');
      if (text[close - 1] !== '/') depth += 1;
      at = close;
    }
    if (depth > DEEPEST) throw unreadable(what, `its elements are nested more than ${DEEPEST} levels deep`);
  }
}

/** The `>` that closes a tag, past any in its attribute values. */
function tagEnd(text: string, from: number): number {
  let at = from;
  for (;;) {
    const close = text.indexOf('>', at);
    if (close === -1) return -1;
    const quote = firstQuote(text, at, close);
    if (quote === -1) return close;
    const partner = text.indexOf(text[quote] ?? '"', quote + 1);
    if (partner === -1) return -1;
    at = partner + 1;
  }
}

function firstQuote(text: string, from: number, to: number): number {
  for (let at = from; at < to; at += 1) if (text[at] === '"' || text[at] === "'") return at;
  return -1;
}

function end(text: string, mark: string, from: number, what: string): number {
  const at = text.indexOf(mark, from);
  if (at === -1) throw unreadable(what, `a ${mark} is missing`);
  return at + mark.length - 1;
}

const ATTRIBUTES = ':@';
const TEXT = '#text';

function elementsOf(nodes: unknown): XmlElement[] {
  if (!Array.isArray(nodes)) return [];
  return nodes.flatMap((node: Record<string, unknown>) => {
    const name = Object.keys(node).find((key) => key !== ATTRIBUTES);
    if (!name || name === TEXT || name.startsWith('?')) return [];
    const inner = lookup(node, name);
    const text = Array.isArray(inner)
      ? inner.map((child: Record<string, unknown>) => String(child[TEXT] ?? '')).join('')
      : '';
    const attributes = (node[ATTRIBUTES] ?? {}) as Record<string, string>;
    return [{ name, attributes, children: elementsOf(inner), text }];
  });
}

const unreadable = (what: string, why: string): ToolError =>
  new ToolError('validation_error', `Cannot read ${what}: ${why}.`);

export const childrenOf = (element: XmlElement | undefined, name: string): XmlElement[] =>
  element?.children.filter((child) => child.name === name) ?? [];

export const childOf = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((child) => child.name === name);

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** One element as text; undefined attributes and empty children are left out. */
export function element(name: string, attributes: Attributes = {}, children: readonly string[] = []): string {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${attribute(String(value))}"`],
  );
  const inner = children.filter(Boolean).join('');
  return inner ? `<${name}${written.join('')}>${inner}</${name}>` : `<${name}${written.join('')}/>`;
}

/** An element with text in it, or nothing for an empty text. */
export const textElement = (name: string, text: string): string =>
  text ? `<${name}>${escaped(text)}</${name}>` : '';

/** Children in one parent, or nothing: the formats written here do not allow empty lists. */
export const list = (name: string, children: readonly string[]): string =>
  children.some(Boolean) ? element(name, {}, children) : '';

const escaped = (text: string): string =>
  clean(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;');

const attribute = (text: string): string =>
  escaped(text).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');

/** XML 1.0 has no way to write these, not even as a reference. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

export const isWritable = (text: string): boolean => text.search(UNWRITABLE) === -1 && text.isWellFormed();

/** The text with each character that XML cannot hold written some other way. */
export const replaceUnwritable = (text: string, write: (character: string) => string): string =>
  text.toWellFormed().replace(UNWRITABLE, write);

const clean = (text: string): string => replaceUnwritable(text, () => '\ufffd');
