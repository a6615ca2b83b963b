import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openXKit } from '../test/support/kit.ts';
import { checkMedia } from '../tools/media.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

describe('a media file', () => {
  let root: string;
  let allowed: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'countersign-media-'));
    allowed = join(root, 'media');
    mkdirSync(allowed);
    writeFileSync(join(allowed, 'dot.png'), PNG);
    writeFileSync(join(root, 'secret.png'), PNG);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const check = (path: string, type?: string) => checkMedia(path, [allowed], type);

  it('is taken from an allowed folder, with its type and size', async () => {
    expect(await check(join(allowed, 'dot.png'))).toMatchObject({
      size: 16,
      mediaType: 'image/png',
      category: 'tweet_image',
    });
  });

  it.each([
    ['in another folder', () => join(root, 'secret.png')],
    ['reached by climbing out', () => join(allowed, '..', 'secret.png')],
    ['that does not exist', () => join(allowed, 'none.png')],
    ['that is a folder', () => allowed],
    [
      'in a folder that only begins like the allowed one',
      () => {
        mkdirSync(`${allowed}-not`);
        writeFileSync(join(`${allowed}-not`, 'x.png'), PNG);
        return join(`${allowed}-not`, 'x.png');
      },
    ],
    [
      'behind a link that leads out',
      () => {
        symlinkSync(join(root, 'secret.png'), join(allowed, 'link.png'));
        return join(allowed, 'link.png');
      },
    ],
  ])('%s is refused, in the same words', async (_what, path) => {
    await expect(check(path())).rejects.toMatchObject({
      code: 'file_read_error',
      message: `The file could not be read in an allowed directory (${allowed}).`,
    });
  });

  it('must be what its name says, and of a type X takes', async () => {
    writeFileSync(join(allowed, 'fake.jpg'), PNG);
    writeFileSync(join(allowed, 'notes.txt'), 'hello');
    for (const name of ['fake.jpg', 'notes.txt']) {
      await expect(check(join(allowed, name))).rejects.toMatchObject({ code: 'unsupported_media_type' });
    }
    await expect(check(join(allowed, 'dot.png'), 'video/mp4')).rejects.toMatchObject({
      code: 'unsupported_media_type',
    });
  });

  it('may not be larger than X takes', async () => {
    writeFileSync(join(allowed, 'big.png'), PNG);
    truncateSync(join(allowed, 'big.png'), 5 * 1024 * 1024 + 1);
    await expect(check(join(allowed, 'big.png'))).rejects.toMatchObject({ code: 'media_upload_error' });
  });

  it('is uploaded once and used again, also in an approved post', async () => {
    await using kit = await openXKit({ policy: { require_approval_for: ['x_post_tweet'] } });
    mkdirSync(join(kit.dataDir, 'media'));
    const file_path = join(kit.dataDir, 'media', 'dot.png');
    const bytes = Buffer.concat([PNG, Buffer.alloc(2000, 7)]);
    writeFileSync(file_path, bytes);
    const first = await kit.data('x_upload_media', { file_path });
    expect(first).toMatchObject({ cached: false, file_size_bytes: bytes.length, media_type: 'image/png' });
    const again = await kit.data('x_upload_media', { file_path });
    expect(again).toMatchObject({ cached: true, media_id: first.media_id });
    const { outcome } = await kit.call('x_post_tweet', {
      text: 'With a picture',
      media_ids: [String(first.media_id)],
    });
    if (outcome.status !== 'routed') throw new Error(`was ${outcome.status}`);
    const decided = await kit.data(
      'approve_item',
      { id: outcome.approvalId },
      { principal: { kind: 'person', id: 'ada' } },
    );
    const { items } = (await kit.sandbox.control('look', { collection: 'posts' })) as unknown as {
      items: { id: string; media_keys: string[] }[];
    };
    const post = items.find(({ id }) => id === (decided.result as { id: string }).id);
    expect(post?.media_keys).toHaveLength(1);
  });

  it('is only checked, not sent, in a dry run', async () => {
    await using kit = await openXKit();
    mkdirSync(join(kit.dataDir, 'media'));
    const file_path = join(kit.dataDir, 'media', 'dot.png');
    writeFileSync(file_path, PNG);
    const { outcome } = await kit.call('x_upload_media', { file_path, dry_run: true });
    expect(outcome).toMatchObject({
      status: 'dry_run',
      data: { media_type: 'image/png', file_size_bytes: PNG.length, alt_text: null },
    });
    expect(await kit.sandbox.control('look', { collection: 'media' })).toEqual({ items: [] });
    const missing = await kit.call('x_upload_media', { file_path: `${file_path}.gif`, dry_run: true });
    expect(missing.outcome).toMatchObject({ status: 'failed', fault: { code: 'file_read_error' } });
  });
});
