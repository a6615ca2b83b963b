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
