import { describe, expect, it } from 'vitest';
import { argumentsFrom, fieldsOf } from './schema-form.ts';

const schema = {
  type: 'object',
  required: ['path', 'count'],
  properties: {
    path: { type: 'string', description: 'Where.' },
    count: { type: 'integer' },
    mode: { enum: ['fast', 2, null] },
    deep: { type: 'boolean' },
    filter: { type: 'object' },
    odd: true,
  },
};

describe('a form made from a schema', () => {
  it('has one field for each argument, with the control its type asks for', () => {
    expect(
      fieldsOf(schema).map(({ name, kind, required, options }) => [name, kind, required, options]),
    ).toEqual([
      ['path', 'text', true, undefined],
      ['count', 'number', true, undefined],
      ['mode', 'text', false, ['fast', '2', 'null']],
      ['deep', 'text', false, ['true', 'false']],
      ['filter', 'json', false, undefined],
      ['odd', 'json', false, undefined],
    ]);
    expect(fieldsOf(null)).toEqual([]);
    expect(fieldsOf({ properties: [] })).toEqual([]);
  });

  it('sends typed values and leaves empty fields out', () => {
    const values = { path: '/x', count: '3', mode: '2', deep: 'false', filter: '{"a":[1]}', odd: '' };
    expect(argumentsFrom(fieldsOf(schema), values)).toEqual({
      args: { path: '/x', count: 3, mode: 2, deep: false, filter: { a: [1] } },
      problems: {},
    });
  });

  it('names what is missing or is not JSON', () => {
    expect(argumentsFrom(fieldsOf(schema), { filter: '{' })).toEqual({
      args: { path: '' },
      problems: { count: 'A value is required.', filter: 'This is not valid JSON.' },
    });
  });
});
