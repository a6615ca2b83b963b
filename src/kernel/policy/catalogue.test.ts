import { describe, expect, it } from 'vitest';
import { matchesPattern } from './catalogue.ts';

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
