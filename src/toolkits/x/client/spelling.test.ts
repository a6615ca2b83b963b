import { afterEach, describe, expect, it } from 'vitest';
import { codeOf } from '../test/support/kit.ts';
import { openSignedInKit, type SignedInKit } from '../test/support/signed-in.ts';

describe('the spelling of post fields', () => {
  let world: SignedInKit;
  const spellings: string[] = [];
  const open = async (refused: readonly string[]): Promise<void> => {
    spellings.length = 0;
    world = await openSignedInKit({
      before({ query }) {
        const used = ['post.fields', 'tweet.fields'].find((name) => query.has(name));
        if (!used) return undefined;
        spellings.push(used);
        if (!refused.includes(used)) return undefined;
        return { status: 400, headers: {}, json: { title: 'Invalid Request', detail: `No ${used} here` } };
      },
    });
  };
  afterEach(() => world.close());
  const search = async () => (await world.kit.call('x_search_tweets', { query: 'monitoring' })).outcome;

  it('is that of the description where X takes it', async () => {
    await open([]);
    expect((await search()).status).toBe('ok');
    expect(spellings).toEqual(['post.fields']);
  });

  it('is the older one from then on where X refuses that of the description', async () => {
    await open(['post.fields']);
    const outcome = await search();
    expect(outcome).toMatchObject({ status: 'ok' });
    expect(JSON.stringify(outcome)).toContain('author_id');
    await search();
    expect(spellings).toEqual(['post.fields', 'tweet.fields', 'tweet.fields']);
  });

  it('is not to blame when X refuses both: the first refusal is reported', async () => {
    await open(['post.fields', 'tweet.fields']);
    const outcome = await search();
    expect(codeOf(outcome)).toBe('x_api_error');
    expect(JSON.stringify('fault' in outcome ? outcome.fault.message : '')).toContain('No post.fields here');
  });
});
