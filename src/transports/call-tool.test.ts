import { describe, expect, it } from 'vitest';
import { pick } from './call-tool.ts';
import type { Served } from './served.ts';

const serving = (names: readonly string[], discovery = false): Served =>
  ({
    exposure: { names, options: { discovery }, find: async () => undefined, reach: async () => undefined },
  }) as unknown as Served;

describe('a tool that is not there', () => {
  it('is named together with the listed one that was probably meant, and no other', async () => {
    const served = serving(['x_post_tweet', 'x_like_tweet', 'get_stats']);
    await expect(pick(served, 'x_pots_tweet', {})).rejects.toThrow(
      'Unknown tool: x_pots_tweet. Did you mean x_post_tweet?',
    );
    await expect(pick(served, 'make_coffee', {})).rejects.toThrow(
      'Unknown tool: make_coffee. tools/list names those of this session; a person chooses them with --toolkits and --profile.',
    );
  });
});
