import { describe, expect, it } from 'vitest';
import type { Principal } from '../../contract/principal.ts';
import {
  checkPrincipal,
  compilePrincipals,
  createCatalogue,
  matchesPattern,
  matchesPrincipal,
} from './catalogue.ts';
import { namesTool } from './rules.ts';

describe('a pattern with a star', () => {
  it.each([
    ['*_get', 'x_get', true],
    ['*_get', 'x_get_more', false],
    ['*_get', 'x_get\n', false],
    ['x_*', 'x_post', true],
    ['x_*', 'ax_post', false],
    ['x_*_get', 'x_user_get', true],
    ['x_*_get', 'x_user_getter', false],
    ['x.*', 'x.post', true],
    ['x.*', 'xypost', false],
    ['*', 'anything', true],
  ])('%s matches the whole of %j: %s', (pattern, name, matches) => {
    expect(matchesPattern(pattern, name)).toBe(matches);
  });

  it.each([
    ['x_get', 'x_get', true],
    ['x_get', 'x_get_more', false],
    ['x.get', 'x_get', false],
  ])('is not %s, which matches %s: %s', (pattern, name, matches) => {
    expect(matchesPattern(pattern, name)).toBe(matches);
  });
});

describe('the characters of an expression', () => {
  it.each(['.', '+', '?', '^', '$', '{', '}', '(', ')', '|', '[', ']', '\\'])(
    'stand for themselves in a pattern: %s',
    (mark) => {
      expect(matchesPattern(`a${mark}b*`, `a${mark}bc`)).toBe(true);
      expect(matchesPattern(`a${mark}b*`, 'aXbc')).toBe(false);
      expect(matchesPattern(`a${mark}b*`, 'abc')).toBe(false);
    },
  );
});

describe('a pattern of principals', () => {
  const who = (kind: Principal['kind'], id: string): Principal => ({ kind, id });
  it.each([
    ['*', 'agent', 'a', true],
    ['*', 'system', 'clock', true],
    ['agent', 'agent', 'a', true],
    ['agent', 'person', 'a', false],
    ['agent:*', 'agent', 'a', true],
    ['agent:*', 'person', 'a', false],
    ['agent:a', 'agent', 'a', true],
    ['agent:a', 'agent', 'ab', false],
    ['agent:a*', 'agent', 'ab', true],
    ['agent:a*', 'person', 'ab', false],
    ['agent:*:x', 'agent', 'b:x', true],
    ['agent:*:x', 'agent', 'b:y', false],
  ] as const)('%s means %s:%s: %s', (pattern, kind, id, means) => {
    expect(matchesPrincipal(pattern, who(kind, id))).toBe(means);
    expect(compilePrincipals([pattern])(who(kind, id), `${kind}:${id}`)).toBe(means);
    expect(compilePrincipals(['system:none', pattern])(who(kind, id), `${kind}:${id}`)).toBe(means);
  });

  it('is wrong with an unknown kind or without a name', () => {
    for (const good of ['*', 'agent', 'person', 'system', 'agent:*', 'agent:a', 'agent:a:b'])
      expect(checkPrincipal(good)).toBeUndefined();
    expect(checkPrincipal('agnet:a')?.problem).toBe(
      "unknown kind of principal 'agnet'; did you mean 'agent'?",
    );
    expect(checkPrincipal('agent:')?.problem).toBe("'agent:' has no name after the colon");
  });
});

describe('names of tools', () => {
  const one = { toolkit: 't', category: 'c', effect: 'read', inputJson: {} } as const;
  const first = { ...one, name: 'first', policyName: 'p.first', aliases: ['second', 'old'] };
  const second = { ...one, name: 'second' };

  it('lead to the tool of that name rather than to one that has it as an alias', () => {
    for (const subjects of [
      [first, second],
      [second, first],
    ]) {
      const { find, tools } = createCatalogue(subjects);
      expect([find('second'), find('old'), find('p.first'), find('first')]).toEqual([
        second,
        first,
        first,
        first,
      ]);
      expect(find('undefined')).toBeUndefined();
      expect(tools('*first')).toEqual([first]);
      expect(tools('third*')).toEqual({ problem: "no tool matches the pattern 'third*'" });
    }
  });

  it('that two tools have as an alias lead to one of them only', () => {
    const shared = [
      { ...one, name: 'a', aliases: ['old'] },
      { ...one, name: 'b', aliases: ['old'] },
    ];
    const catalogue = createCatalogue(shared);
    const named = shared.filter((subject) => namesTool('old', subject, catalogue));
    expect(named).toEqual([catalogue.find('old')]);
  });

  it('may be missing only while a toolkit is expected whose name they begin with', () => {
    const none = createCatalogue([first]);
    const some = createCatalogue([first], ['files']);
    expect([none.isComplete, some.isComplete]).toEqual([true, false]);
    for (const name of ['files__write', 'files.asks.roots', 'third*']) {
      expect(some.tools(name)).toEqual([]);
      expect(none.tools(name)).toHaveProperty('problem');
    }
    for (const name of ['files', 'write__files__', 'asks.files.', 'x'])
      expect(some.tools(name)).toHaveProperty('problem');
    expect([some.category('sampling'), some.category('c'), some.toolkit('files')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(none.category('sampling')).toHaveProperty('problem');
    expect(some.category('other')).toHaveProperty('problem');
    expect(none.toolkit('files')).toHaveProperty('problem');
  });
});
