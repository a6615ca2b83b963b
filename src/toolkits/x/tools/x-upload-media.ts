import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { ENGAGE_FAULTS } from '../lib/fault-codes.ts';
import { type CheckedMedia, checkMedia } from '../lib/media-file.ts';
import { defineXTool, reachX, type XServices } from '../services.ts';

const CACHE_MS = 24 * 3_600_000;

export const xUploadMedia = defineXTool({
  name: 'x_upload_media',
  title: 'Upload media',
  summary: 'Uploads an image (jpg, png, webp, gif) or mp4 from an allowed folder and returns its media_id.',
  effect: 'change',
  reach: 'network',
  category: 'media',
  profiles: CHANGE_PROFILES,
  policyName: 'upload_media',
  faults: [...ENGAGE_FAULTS, 'unsupported_media_type', 'file_read_error', 'media_upload_error'],
  requires: { xClient: true, userAuth: true, scopes: ['media.write', 'tweet.write', 'users.read'] },
  deadlineMs: 600_000,
  input: z.object({
    file_path: z.string().min(1).max(4096),
    media_type: z.string().optional().describe('MIME type, if it must match.'),
    alt_text: z.string().min(1).max(1000).optional(),
    dry_run: z.boolean().optional().describe('Only check the file.'),
  }),
  output: z.object({
    media_id: z.string(),
    media_type: z.string(),
    file_size_bytes: z.number(),
    file_hash: z.string(),
    upload_strategy: z.string(),
    segment_count: z.number(),
    processing_required: z.boolean(),
    cached: z.boolean(),
    alt_text: z.string().nullable(),
  }),
  describeApproval: ({ file_path }) => `Upload ${file_path} to X?`,
  async check({ file_path, media_type }, { mediaFolders }) {
    await checkMedia(file_path, mediaFolders, media_type);
  },
  async preview({ file_path, media_type, alt_text }, { services }) {
    const { mediaType, size } = await checkMedia(file_path, services.mediaFolders, media_type);
    return { media_type: mediaType, file_size_bytes: size, alt_text: alt_text ?? null };
  },
  async run({ file_path, media_type, alt_text }, context) {
    const { services, now } = context;
    const media = await checkMedia(file_path, services.mediaFolders, media_type);
    const bytes = await readFile(media.path).catch((cause: unknown) => {
      throw new ToolFault('file_read_error', 'The file could not be read.', { cause });
    });
    const fileHash = hash('sha256', bytes);
    const key = alt_text === undefined ? fileHash : hash('sha256', `${fileHash}\n${alt_text}`);
    const about = {
      media_type: media.mediaType,
      file_size_bytes: bytes.byteLength,
      file_hash: fileHash,
      alt_text: alt_text ?? null,
    };
    context.note({ rollback: { reversible: false, note: 'X forgets an unused upload after a day.' } });
    const cached = await services.growth.journal.uploadedMedia(key, now());
    if (cached) {
      const none = { upload_strategy: 'cached', segment_count: 0, processing_required: false };
      return { media_id: cached, ...about, ...none, cached: true };
    }
    const sent = await upload(context, bytes, media, alt_text);
    const expires = sent.expiresAt ?? new Date(now().getTime() + CACHE_MS);
    await services.growth.journal
      .mediaUploaded(key, sent.mediaId, expires)
      .catch((error: unknown) => services.log.warn('An upload was not remembered', { error: String(error) }));
    return {
      media_id: sent.mediaId,
      ...about,
      upload_strategy: sent.segments > 1 ? 'chunked' : 'simple',
      segment_count: sent.segments,
      processing_required: sent.processing,
      cached: false,
    };
  },
  // An upload nobody refers to changes nothing anybody can see: it may be made again.
  reconcile: async () => ({ settled: 'not_done' }),
});

async function upload(
  context: ToolContext<XServices>,
  bytes: Uint8Array,
  media: CheckedMedia,
  altText?: string,
) {
  const x = await reachX(context);
  const { mediaType, category } = media;
  return x.uploadMedia(
    { bytes, mediaType, category, ...(altText === undefined ? {} : { altText }) },
    {
      signal: context.signal,
      callId: context.callId,
      progress: (sent, total) => context.progress(`Uploaded ${sent} of ${total} bytes`, sent, total),
    },
  );
}
