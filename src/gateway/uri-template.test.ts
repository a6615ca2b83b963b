import { describe, expect, it } from 'vitest';
import { matchesTemplate } from './uri-template.ts';

describe('a URI template', () => {
  it.each([
    ['note://{id}', 'note://7'],
    ['note://{id}', 'note://caf%C3%A9'],
    ['file:///{+path}', 'file:///a/b.txt'],
    ['db://{schema}/{table}', 'db://public/users'],
    ['x://{a}{b}', 'x://ab'],
    ['x://list{?page,size}', 'x://list'],
    ['x://list{?page,size}', 'x://list?page=2&size=5'],
    ['x://list?all=1{&page}', 'x://list?all=1&page=2'],
    ['x://root{/path*}', 'x://root/a/b'],
    ['x://f{.ext}', 'x://f.txt'],
    ['x://f{;v}', 'x://f;v=1'],
    ['x://f{#part}', 'x://f#top'],
    ['{+uri}', 'anything://at/all'],
  ])('%s matches %s', (template, uri) => {
    expect(matchesTemplate(template, uri)).toBe(true);
  });

  it.each([
    ['note://{id}', 'note://7/../8'],
    ['note://{id}', 'note://7?admin=1'],
    ['note://{id}', 'file:///etc/passwd'],
    ['note://{id}', 'xnote://7'],
    ['note://{id}/end', 'note://7/ending'],
    ['db://{schema}/{table}', 'db://public'],
    ['x://list{?page}', 'x://list/other'],
    ['x://f{.ext}', 'x://fxtxt'],
    ['x://{a', 'x://{a}'],
    ['x://{}', 'x://a'],
    ['x://{!a}', 'x://a'],
  ])('%s does not match %s', (template, uri) => {
    expect(matchesTemplate(template, uri)).toBe(false);
  });

  it('takes no longer for many variables in a row', () => {
    expect(matchesTemplate(`x://${'{a}'.repeat(90)}!`, `x://${'a'.repeat(10_000)}`)).toBe(false);
  });
});
