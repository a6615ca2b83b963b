import { expect, it } from 'vitest';
import { internalPath } from './internal-path.ts';

it.each([
  ['/', '/'],
  ['/inbox/5', '/inbox/5'],
  ['/activity?run=a%2Fb&q=//x', '/activity?run=a%2Fb&q=//x'],
  ['/inbox/5#s=other', '/inbox/5'],
  ['/research/../inbox/5', '/inbox/5'],
])('takes the path of a page: %j', (text, path) => {
  expect(internalPath(text)).toBe(path);
});

it.each([
  '//evil.example',
  '/\\evil.example',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/.//evil.example',
  '/x/..//evil.example',
  'https://evil.example/',
  'javascript:alert(1)',
  'inbox/5',
  '',
  '/api/s/x',
  '/sign-in?token=x',
  '/tools/x_post_tweet',
  `/${'x'.repeat(600)}`,
])('takes nothing that leads elsewhere: %j', (text) => {
  expect(internalPath(text)).toBeUndefined();
});
