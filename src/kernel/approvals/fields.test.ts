import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonSchema, JsonValue } from '../../contract/json.ts';
import type { FieldRow } from '../../contract/presentation.ts';
import { fieldRows } from './fields.ts';

const NONE: ReadonlySet<string> = new Set();
const rows = (args: JsonObject, properties?: JsonSchema): FieldRow[] =>
  fieldRows(args, properties ? { type: 'object', properties } : {}, NONE);
/** The only row of one argument. */
const row = (name: string, value: JsonValue, schema?: JsonSchema): FieldRow | undefined => {
  const [first, ...more] = rows({ [name]: value }, schema && { [name]: schema });
  expect(more).toEqual([]);
  return first;
};
const nested = (levels: number, leaf: JsonValue, wrap: (inner: JsonValue) => JsonValue): JsonValue =>
  levels === 0 ? leaf : wrap(nested(levels - 1, leaf, wrap));

describe('arguments as rows', () => {
  it('have the title from the schema, or else their name in words', () => {
    expect(rows({ to: 'ada', replyTo: 'bo' }, { to: { title: 'Recipient' } })).toEqual([
      { name: 'to', label: 'Recipient', depth: 0, type: 'text', text: 'ada' },
      { name: 'replyTo', label: 'Reply to', depth: 0, type: 'text', text: 'bo' },
    ]);
    expect(row('to', 'ada', { title: 5 })?.label).toBe('To');
    expect(row('toString', 'x', { title: 'Own' })?.label).toBe('Own');
  });

  it('leave out what is shown elsewhere', () => {
    const shown = fieldRows({ a: 'x', b: 'y' }, {}, new Set(['a']));
    expect(shown.map(({ name }) => name)).toEqual(['b']);
  });

  it('say none for null and empty for a text without characters', () => {
    expect(row('to', null)).toEqual({ name: 'to', label: 'To', depth: 0, type: 'none', text: 'none' });
    expect(row('to', '')).toMatchObject({ type: 'text', text: 'empty' });
    expect(row('query', '')).toMatchObject({ type: 'text', text: 'empty' });
  });

  it('show every value of an object, indented, with what its schema says', () => {
    const customer = { properties: { name: { title: 'Full name' } } };
    expect(rows({ customer: { name: 'Ada', city: 'Ulm' }, one: { a: 'x' } }, { customer })).toEqual([
      { name: 'customer', label: 'Customer', depth: 0, type: 'group', text: '2 values' },
      { name: 'name', label: 'Full name', depth: 1, type: 'text', text: 'Ada' },
      { name: 'city', label: 'City', depth: 1, type: 'text', text: 'Ulm' },
      { name: 'one', label: 'One', depth: 0, type: 'group', text: '1 value' },
      { name: 'a', label: 'A', depth: 1, type: 'text', text: 'x' },
    ]);
  });

  it('show objects and lists as rows down to the sixth level, and what lies deeper as JSON', () => {
    const objects = rows({ top: nested(9, 'leaf', (inner) => ({ in: inner })) });
    expect(objects.map(({ depth, type }) => [depth, type])).toEqual([
      ...[0, 1, 2, 3, 4, 5].map((depth) => [depth, 'group']),
      [6, 'code'],
    ]);
    expect(JSON.parse(objects.at(-1)?.text ?? '')).toEqual({ in: { in: { in: 'leaf' } } });
    const lists = rows({ top: nested(9, 'leaf', (inner) => [inner]) });
    expect(lists.slice(0, 6).map(({ depth, text }) => [depth, text])).toEqual(
      [0, 1, 2, 3, 4, 5].map((depth) => [depth, '1 value']),
    );
    expect(JSON.parse(lists.at(-1)?.text ?? '')).toEqual([[['leaf']]]);
  });

  it('are at most 200; what has no row of its own is shown whole in one', () => {
    const many = (count: number): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, `x${at}`]));
    expect(rows(many(200))).toHaveLength(200);
    expect(rows(many(200)).at(-1)).toMatchObject({ name: 'a199', text: 'x199' });
    const cut = rows(many(203));
    expect(cut).toHaveLength(200);
    expect(cut.at(-2)?.name).toBe('a198');
    expect(cut.at(-1)).toMatchObject({ name: '…', label: '4 more values', depth: 0, type: 'code' });
    expect(JSON.parse(cut.at(-1)?.text ?? '')).toEqual({
      a199: 'x199',
      a200: 'x200',
      a201: 'x201',
      a202: 'x202',
    });
    const long = Array.from({ length: 500 }, (_, at) => at);
    const [first, list, ...more] = rows({ to: 'ada', list: long });
    expect([first?.text, list?.type, more]).toEqual(['ada', 'code', []]);
    expect(JSON.parse(list?.text ?? '')).toEqual(long);
  });

  it('show every character of every text that has not the form of an ID, whatever its name', () => {
    const value = fc.oneof(
      fc.string({ minLength: 1, maxLength: 60 }),
      fc.constantFrom(
        'tmp/../../prod; DROP TABLE customers; --forever 0001',
        '2026-01-01T00:00:00 (and drop the table)',
        'pi_3NxAbCdEfGh',
        '0x52908400098527886E0F7030069857D2E4169EE7',
      ),
    );
    const name = fc.constantFrom('id', 'user_id', 'userIds', 'hash', 'commit_sha', 'uuid', 'at', 'note');
    fc.assert(
      fc.property(name, value, (key, text) => {
        fc.pre(!/^[0-9a-f-]*$/iu.test(text));
        expect(row(key, text)).toMatchObject({ text });
        expect(rows({ [key]: [text] }).map((one) => one.text)).toContain(text);
      }),
    );
  });
});

describe('a list', () => {
  it('of up to eight short values is one row', () => {
    const digits = [1, 2, 3, 4, 5, 6, 7, 8];
    expect(row('numbers', digits)).toEqual({
      name: 'numbers',
      label: 'Numbers',
      depth: 0,
      type: 'list',
      text: '1, 2, 3, 4, 5, 6, 7, 8',
    });
    expect(row('flags', [true, false])?.text).toBe('yes, no');
    expect(row('names', ['x'.repeat(40)])?.text).toBe('x'.repeat(40));
    expect(rows({ numbers: [...digits, 9] })).toHaveLength(10);
    expect(row('numbers', [])).toMatchObject({ type: 'list', text: '0 values' });
  });

  it('keeps the exact values of IDs that it shortens', () => {
    expect(row('ids', ['short', '0123456789abcdef'])).toMatchObject({
      type: 'list',
      text: 'short, 012…cdef',
      exact: 'short, 0123456789abcdef',
    });
    expect(row('ids', ['short', 'other'])).not.toHaveProperty('exact');
  });

  it('with a comma or a line break in a value has a row for each value', () => {
    expect(rows({ names: ['a, b', 'c'] }).map(({ text }) => text)).toEqual(['2 values', 'a, b', 'c']);
    expect(rows({ names: ['a\nb'] }).map(({ text }) => text)).toEqual(['1 value', 'a\nb']);
  });

  it('with a long value, an object or null has a row for each value', () => {
    const long = 'x'.repeat(41);
    expect(rows({ names: ['a', long] })).toEqual([
      { name: 'names', label: 'Names', depth: 0, type: 'list', text: '2 values' },
      { name: '1', label: '1', depth: 1, type: 'text', text: 'a' },
      { name: '2', label: '2', depth: 1, type: 'text', text: long },
    ]);
    expect(rows({ names: [{ a: 'x' }] }).map(({ text }) => text)).toEqual(['1 value', '1 value', 'x']);
    expect(rows({ names: ['a', null] }).map(({ text }) => text)).toEqual(['2 values', 'a', 'none']);
  });

  it('shows its values with the schema of its items', () => {
    const items = { properties: { a: { title: 'First' } } };
    expect(rows({ list: [{ a: 'x' }] }, { list: { items } }).at(-1)?.label).toBe('First');
    expect(rows({ list: [{ a: 'x' }] }, { list: { items: true } }).at(-1)?.label).toBe('A');
    expect(rows({ list: [{ a: 'x' }] }, { list: { items: null } }).at(-1)?.label).toBe('A');
  });
});

describe('a value', () => {
  it('that is true or false is yes or no, whatever its name', () => {
    expect(row('is_id', true)).toMatchObject({ type: 'yes/no', text: 'yes' });
    expect(row('force', false)).toMatchObject({ type: 'yes/no', text: 'no' });
  });

  it('that is a number has groups of digits only where it is an integer', () => {
    expect(row('count', 1234567)).toMatchObject({ type: 'number', text: '1,234,567' });
    expect(row('ratio', 1234.56789)).toMatchObject({ type: 'number', text: '1234.56789' });
    expect(row('count', 12345678901)).toMatchObject({ type: 'number', text: '12,345,678,901' });
    expect(row('count', 5)).not.toHaveProperty('note');
  });

  it.each(['id', 'user_id', 'user-ids', 'uuid', 'a_guid', 'hash', 'commit_sha', 'userId', 'userIds'])(
    'named %s is an ID where it has the form of one',
    (name) => {
      expect(row(name, '1234')).toMatchObject({ type: 'id', text: '1234' });
      expect(row(name, 'abc; DROP TABLE')).toMatchObject({ type: 'text', text: 'abc; DROP TABLE' });
      expect(row(name, 1234567890123)).toMatchObject({
        type: 'id',
        text: '123…0123',
        exact: '1234567890123',
      });
    },
  );

  it.each(['grid', 'idle', 'user_id_note', 'Id', 'hashtag', 'squid', 'userIdNote', 'AIds'])(
    'named %s is not an ID',
    (name) => {
      expect(row(name, '1234567890123')).toMatchObject({ type: 'text', text: '1234567890123' });
    },
  );

  it.each([
    '0190b6a2-5f0e-7c41-9d5e-3f2a1c0b9e8d',
    '0190B6A2-5F0E-7C41-9D5E-3F2A1C0B9E8D',
    '12345678901234567890',
    '0123456789abcdef',
    'DEADBEEFDEADBEE1',
  ])('like %s is an ID, of which only the ends are shown', (text) => {
    const shown = row('id', text);
    expect(shown).toMatchObject({ type: 'id', exact: text });
    expect(shown?.text).toBe(`${text.slice(0, 3)}…${text.slice(-4)}`);
  });

  it('that is an ID of up to 12 characters is shown as it is', () => {
    expect(row('id', '123456789012')).toMatchObject({ text: '123456789012' });
    expect(row('id', '123456789012')).not.toHaveProperty('exact');
    expect(row('id', '1234567890123')).toMatchObject({ text: '123…0123', exact: '1234567890123' });
  });

  it.each([
    '123456789',
    '+1234567890',
    '1234567890 EUR',
    'see 0190b6a2-5f0e-7c41-9d5e-3f2a1c0b9e8d',
    '0190b6a2-5f0e-7c41-9d5e-3f2a1c0b9e8d!',
    '12345678901234567890',
    'deadbeefdeadbeef',
    'pi_3NxAbCdEfGh',
  ])('like “%s” is text that is shown in full', (text) => {
    expect(row('value', text)).toMatchObject({ type: 'text', text });
  });

  it('that is a time is shown in UTC, with the exact text', () => {
    expect(row('at', '2026-03-01T10:30:59+02:00')).toMatchObject({
      type: 'time',
      text: '2026-03-01 08:30:59 UTC',
      exact: '2026-03-01T10:30:59+02:00',
    });
    expect(row('at', '2026-03-01T10:30:00Z')?.text).toBe('2026-03-01 10:30 UTC');
    expect(row('at', '2026-03-01T10:30:00.250Z')?.text).toBe('2026-03-01 10:30:00.250 UTC');
    for (const text of [
      '2026-13-45T99:99Z',
      '2026',
      '2026-03-01',
      '+002026-03-01T10:00Z',
      '2026-03-01T10:00',
      '2026-03-01T10:00Z (rm -rf)',
    ])
      expect(row('at', text)).toMatchObject({ type: 'text', text });
  });

  it('is code by its name', () => {
    for (const name of ['sql', 'raw_query', 'SQL', 'statement', 'shell_command', 'body', 'patch'])
      expect(row(name, 'do it'), name).toMatchObject({ type: 'code', text: 'do it' });
    for (const name of ['mysql', 'query_note', 'barcode'])
      expect(row(name, 'do it'), name).toMatchObject({ type: 'text', text: 'do it' });
  });

  it.each([
    ['timeout_ms', 999, undefined],
    ['timeout_ms', 1_000, '1 s'],
    ['timeoutMs', 90_500, '90.5 s'],
    ['wait_millis', 119_000, '119 s'],
    ['wait_milliseconds', 120_000, '2 min'],
    ['ttl_s', 119, undefined],
    ['ttl_s', 120, '2 min'],
    ['ttl_sec', 7_199, '120 min'],
    ['ttl_secs', 7_200, '2 h'],
    ['ttl_seconds', 86_400, '24 h'],
    ['ms', 120_000, undefined],
    ['atoms', 120_000, undefined],
    ['per_ms_total', 120_000, undefined],
    ['items', 7_200, undefined],
    ['ttl_s_total', 7_200, undefined],
  ])('named %s of %d has the note %s', (name, value, note) => {
    expect(row(name, value)?.note).toBe(note);
  });
});

describe('a value other than the default', () => {
  it.each([
    [true, false, { note: 'default is no', warn: true }],
    [false, true, { note: 'default is yes', warn: true }],
    [5, 10, { note: 'default is 10', warn: false }],
    ['b', 'a', { note: 'default is a', warn: false }],
    ['b', '', { note: 'default is empty', warn: false }],
  ])('%j instead of %j has a note', (value, usual, expected) => {
    expect(row('mode', value, { default: usual })).toMatchObject(expected);
  });

  it.each([
    [true, true],
    ['b', null],
    ['b', ['a']],
    ['b', { a: 1 }],
    ['b', undefined],
  ])('%j where the default is %j has none', (value, usual) => {
    const shown = row('mode', value, { default: usual });
    expect(shown).not.toHaveProperty('note');
    expect(shown).not.toHaveProperty('warn');
  });
});
