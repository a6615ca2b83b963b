import { expect, it } from 'vitest';
import { closest } from './text.ts';

const known = ['x_post_tweet', 'x_like_tweet', 'mode', 'blocked_tools'];

it.each([
  ['x_post_tweat', 'x_post_tweet'],
  ['post_tweet', 'x_post_tweet'],
  ['mdoe', 'mode'],
  ['Mode', 'mode'],
  ['blocked_tool', 'blocked_tools'],
])('suggests for %s the name %s', (typed, meant) => {
  expect(closest(typed, known)).toBe(meant);
});

it.each(['zebra', 'q', 'completely_different'])('suggests nothing for %s when no name is near', (typed) => {
  expect(closest(typed, known)).toBeUndefined();
});
