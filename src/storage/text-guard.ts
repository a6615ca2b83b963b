import { types } from 'node:util';

/**
 * libsql ends the whole process when it meets text that is not UTF-8, which only damage leaves in a file. A value that
 * could be such text is therefore fetched as bytes and decoded here, where a wrong byte becomes U+FFFD. The store has
 * no columns of bytes of its own.
 */
const NOT_ASCII = '*[\u{80}-\u{10ffff}]*';
/** Beyond this length handing over bytes costs less than looking at every character. */
const SHORT = 64;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const guard = (column: string): string =>
  `case when typeof(${column}) = 'text' and (octet_length(${column}) > ${SHORT} or ${column} glob '${NOT_ASCII}') then cast(${column} as blob) else ${column} end as ${column}`;

/** The same query with every column guarded; undefined for a statement that has no rows of the store to give. */
export function guardText(sql: string, columns: readonly string[]): string | undefined {
  const list = [...new Set(columns)].map((name) => guard(quoted(name))).join(', ');
  const reads = /^\s*(select|with)\b/i.test(sql) && !/\b(insert into|update|delete from)\b/i.test(sql);
  if (reads) return `select ${list} from (${sql})`;
  const [, before] = /^(.*\breturning )(?:\*|"\w+"(?:, "\w+")*)$/is.exec(sql) ?? [];
  return before === undefined ? undefined : before + list;
}

/** Puts text back in place of the bytes it was fetched as. */
export function decodeText<R>(row: R): R {
  const cells = row as Record<string, unknown>;
  for (const name in cells) {
    const value = cells[name];
    // Of one row libsql gives a Buffer, of many the memory under it.
    if (Buffer.isBuffer(value)) cells[name] = value.toString('utf8');
    else if (types.isAnyArrayBuffer(value)) cells[name] = Buffer.from(value as ArrayBuffer).toString('utf8');
  }
  return row;
}
