import { describe, expect, it } from 'vitest';
import { startXWorld } from '../test/support/sandbox.ts';

const MB = 1024 * 1024;

describe('media upload', () => {
  it('sends a picture in chunks, describes it, and the post shows it', async () => {
    await using world = await startXWorld();
    const seen: number[] = [];
    const media = await world.api.uploadMedia(
      {
        bytes: new Uint8Array(5 * MB).fill(7),
        mediaType: 'image/png',
        category: 'tweet_image',
        altText: 'A calm pool',
      },
      { progress: (sent) => seen.push(sent) },
    );
    expect(media).toMatchObject({
      size: 5 * MB,
      segments: 2,
      processing: false,
      expiresAt: new Date('2026-02-26T12:00:00Z'),
    });
    expect(seen).toEqual([4 * MB, 5 * MB]);
    const posted = await world.api.request('create_tweet', {
      text: 'with a picture',
      media_ids: [media.mediaId],
    });
    const id = (posted.json as { data: { id: string } }).data.id;
    const { json } = await world.api.request('tweet_by_id', {
      tweet_id: id,
      tweet_fields: 'attachments',
      expansions: 'attachments.media_keys',
    });
    expect(json).toMatchObject({
      data: { attachments: { media_keys: [media.mediaKey] } },
      includes: { media: [{ type: 'photo', alt_text: 'A calm pool' }] },
    });
  });

  it('returns the media ID when X refuses only the alt text', async () => {
    await using world = await startXWorld();
    await world.sandbox.control('fault', { kind: 'forbidden', endpoint: 'media_metadata' });
    const file = { bytes: new Uint8Array(64), mediaType: 'image/png', category: 'tweet_image' } as const;
    const media = await world.api.uploadMedia({ ...file, altText: 'A calm pool' });
    expect(media).toMatchObject({ mediaId: expect.any(String), altTextError: expect.stringContaining('X') });
    await world.api.request('create_tweet', { text: 'with a picture', media_ids: [media.mediaId] });
  });

  it('waits until a video is processed', async () => {
    await using world = await startXWorld();
    const media = await world.api.uploadMedia({
      bytes: new Uint8Array(64),
      mediaType: 'video/mp4',
      category: 'tweet_video',
    });
    expect(media.processing).toBe(true);
    expect(world.slept).toEqual([1000, 1000]);
    await world.api.request('create_tweet', { text: 'with a video', media_ids: [media.mediaId] });
  });

  it('is media_upload_error when X does not take the file, and nothing was published', async () => {
    await using world = await startXWorld();
    await expect(
      world.api.uploadMedia({
        bytes: new Uint8Array(6 * MB),
        mediaType: 'image/png',
        category: 'tweet_image',
      }),
    ).rejects.toMatchObject({
      code: 'media_upload_error',
      effect: 'none',
      message: expect.stringContaining('larger than'),
    });
    await expect(
      world.api.uploadMedia({ bytes: new Uint8Array(1), mediaType: 'image/tiff', category: 'tweet_image' }),
    ).rejects.toMatchObject({ code: 'media_upload_error' });
  });

  it('keeps the code of a network fault in the middle, without any doubt about an effect', async () => {
    await using world = await startXWorld();
    await world.sandbox.control('fault', { kind: 'drop_after', endpoint: 'media_append' });
    await expect(
      world.api.uploadMedia({ bytes: new Uint8Array(8), mediaType: 'image/png', category: 'tweet_image' }),
    ).rejects.toMatchObject({ code: 'x_network_error', effect: 'none' });
  });
});
