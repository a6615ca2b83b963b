import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../contract/json.ts';
import type { ArgumentPredicate, StandingDraft } from '../../contract/standing.ts';
import { exactPredicates, standingSentence, uncovered } from './predicates.ts';

/** A condition as a newer version of Countersign may have stored it. */
const NEWER = JSON.parse('{"arg":"a","op":"newer"}') as ArgumentPredicate;

const covers = (predicate: ArgumentPredicate, value: JsonValue): boolean =>
  uncovered([predicate], { [predicate.arg]: value }) === undefined;

describe('a predicate', () => {
  it('covers a value that is equal, in whatever order it is written', () => {
    const equals: ArgumentPredicate = { arg: 'a', op: 'equals', value: { b: 1, c: [2] } };
    expect(covers(equals, { c: [2], b: 1 })).toBe(true);
    expect(covers(equals, { b: 1, c: [2], d: null })).toBe(false);
    expect(covers({ arg: 'a', op: 'equals', value: 1 }, '1')).toBe(false);
  });

  it('covers one of several values', () => {
    const oneOf: ArgumentPredicate = { arg: 'a', op: 'one_of', values: ['x', 'y'] };
    expect(['x', 'y', 'z', 'xy'].filter((value) => covers(oneOf, value))).toEqual(['x', 'y']);
  });

  it('covers a text by its beginning, and nothing but a text', () => {
    const starts: ArgumentPredicate = { arg: 'a', op: 'starts_with', text: 'note' };
    const values = ['note', 'note 1', 'a note', 'Note', 5, ['note'], null];
    expect(values.filter((value) => covers(starts, value))).toEqual(['note', 'note 1']);
  });

  it.each<[string, string[], string[]]>([
    [
      '/srv/notes/',
      [
        '/srv/notes/',
        '/srv/notes/a/b',
        '/srv/notes/./a',
        '/srv/notes//a',
        '/srv/notes/..a/b',
        '/srv/notes/a..',
      ],
      [
        '/srv/notes/../keys',
        '/srv/notes/a/..',
        '/srv/notes/a\\..\\..\\keys',
        '/srv/notes/%2e%2e/keys',
        '/srv/notes/%2E./keys',
        '/srv/notes/.%252e/keys',
        '/srv/notes/..%2fkeys',
        '/srv/notes/x%5c..%5ckeys',
        '/srv/notes/%c0%ae%c0%ae/keys',
        '/srv/notes/..;/keys',
        '/srv/notes/.. /keys',
        '/srv/notes/.\u200b./keys',
        '/srv/notes/..%00/keys',
        '/srv/notes/．．/keys',
        '/srv/notes/‥/keys',
      ],
    ],
    ['/srv/no', ['/srv/notes'], ['/srv/no/../keys', '/srv/notes/..']],
    ['../shared/', ['../shared/a'], ['../shared/../a', '../shared/a/../../b']],
    ['a/.', ['a/.b', 'a/./b'], ['a/..', 'a/../b']],
    ['C:\\notes\\', ['C:\\notes\\a'], ['C:\\notes\\..\\keys', 'C:\\notes\\a/../..']],
    [
      'https://acme.dev',
      ['https://acme.dev', 'https://acme.dev/a', 'https://acme.dev?a', 'https://acme.dev, and evil.com'],
      [
        'https://acme.dev.evil.com',
        'https://acme.dev@evil.com',
        'https://acme.dev:x@evil.com',
        'https://acme.device',
        'https://acme.dev\\@evil.com',
        'https://acme.dev/"https://evil.com',
      ],
    ],
    ['https://ac', ['https://ac/'], ['https://acme.dev']],
    ['See https://acme.dev/', ['See https://acme.dev/a, evil.com'], ['See https://acme.dev/,evil.com']],
    ['Daily', ['Daily: evil.com', 'Daily..', 'Daily... and so on'], ['Daily/../keys']],
  ])('that %j begins with covers no path or link out of it', (text, inside, outside) => {
    const starts: ArgumentPredicate = { arg: 'a', op: 'starts_with', text };
    expect(inside.filter((value) => !covers(starts, value))).toEqual([]);
    expect(outside.filter((value) => covers(starts, value))).toEqual([]);
  });

  it('covers a number up to its limit, and nothing but a number', () => {
    const atMost: ArgumentPredicate = { arg: 'a', op: 'at_most', number: 5 };
    const values = [-1, 5, 5.1, '3', null, [1], true];
    expect(values.filter((value) => covers(atMost, value))).toEqual([-1, 5]);
  });

  it('covers a text whose links all lead to the named hosts, and nothing but a text', () => {
    const only: ArgumentPredicate = { arg: 'a', op: 'links_only', hosts: ['acme.dev'] };
    expect(covers(only, 'acme.dev and https://acme.dev/x')).toBe(true);
    expect(covers(only, 'acme.dev and evil.example')).toBe(false);
    expect(covers(only, 5)).toBe(false);
    expect(covers(only, ['acme.dev'])).toBe(false);
  });

  it('covers only an argument of the call itself, not what every object has', () => {
    expect(uncovered([{ arg: 'toString', op: 'equals', value: 'x' }], {})).toBe('toString is different');
    expect(
      uncovered([{ arg: 'toString', op: 'starts_with', text: 'x' }], { toString: 'xy' }),
    ).toBeUndefined();
  });

  it('covers nothing where its kind is not known', () => {
    expect(covers(NEWER, 'x')).toBe(false);
  });

  it('must hold for every argument', () => {
    const both: ArgumentPredicate[] = [
      { arg: 'a', op: 'any' },
      { arg: 'b', op: 'equals', value: 1 },
    ];
    expect(uncovered(both, { a: [null], b: 1 })).toBeUndefined();
    expect(uncovered(both, { b: 2 })).toBe('b is different');
    expect(uncovered(both, { b: 1, c: 1 })).toBe('c is given');
  });
});

describe('the sentence of a standing approval', () => {
  const sentence = (more: Partial<StandingDraft>): string =>
    standingSentence({
      agent: 'agent:mira',
      tool: 'x_post',
      predicates: [],
      until: '2026-03-01T11:22:33.000Z',
      uses: 2,
      ...more,
    });

  it('names agent, tool, uses and end', () => {
    expect(sentence({})).toBe(
      'Allow mira to call x_post without arguments, at most 2 times, until 2026-03-01 11:22 UTC.',
    );
    expect(sentence({ agent: 'agent:local', uses: 1 })).toBe(
      'Allow any client without a token to call x_post without arguments, once, until 2026-03-01 11:22 UTC.',
    );
  });

  it.each<[ArgumentPredicate, string]>([
    [{ arg: 'a', op: 'equals', value: 'x' }, 'a exactly “x”'],
    [{ arg: 'a', op: 'equals', value: { b: [1] } }, 'a exactly {"b":[1]}'],
    [{ arg: 'a', op: 'equals', value: 'x'.repeat(81) }, `a exactly “${'x'.repeat(81)}”`],
    [{ arg: 'a', op: 'one_of', values: ['x', 2] }, 'a one of “x”, 2'],
    [{ arg: 'a', op: 'starts_with', text: 'note' }, 'a starting with “note”'],
    [{ arg: 'a', op: 'starts_with', text: 'x'.repeat(61) }, `a starting with “${'x'.repeat(61)}”`],
    [{ arg: 'a', op: 'at_most', number: 5 }, 'a at most 5'],
    [{ arg: 'a', op: 'links_only', hosts: [] }, 'any a without links'],
    [{ arg: 'a', op: 'links_only', hosts: ['b.de', 'c.de'] }, 'any a with links only to b.de, c.de'],
    [{ arg: 'a', op: 'any' }, 'any a'],
    [NEWER, 'a under an unknown condition'],
  ])('says %j as words', (predicate, words) => {
    expect(sentence({ predicates: [predicate] })).toContain(`to call x_post with ${words}, at most`);
  });

  it('names every argument', () => {
    const predicates = exactPredicates({ a: 1, b: 'x' });
    expect(predicates).toEqual([
      { arg: 'a', op: 'equals', value: 1 },
      { arg: 'b', op: 'equals', value: 'x' },
    ]);
    expect(sentence({ predicates })).toContain('with a exactly 1, b exactly “x”, at most');
  });
});
