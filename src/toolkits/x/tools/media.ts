import { hash } from 'node:crypto';
import { open, readFile, realpath, stat } from 'node:fs/promises';
import { basename, extname, isAbsolute, sep } from 'node:path';
import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES, type ToolContext } from '../../../contract/tool.ts';
import { homePath } from '../../../lib/file-error.ts';
import { lookup } from '../../../lib/lookup.ts';
import { quoted } from '../../../lib/words.ts';
import type { MediaCategory } from '../client/api.ts';
import { ENGAGE_ERRORS, XError } from '../errors.ts';
import { accountOf } from '../present.ts';
import { requirementsFor } from '../requirements.ts';
import { defineXTool, reachX, type XServices } from '../services.ts';

const MB = 1024 * 1024;

interface MediaKind {
  readonly mediaType: string;
  readonly category: MediaCategory;
  readonly maxBytes: number;
  /** The first bytes of every such file, at an offset. */
  readonly magic: readonly { readonly at: number; readonly bytes: readonly number[] }[];
}

const image = (mediaType: string, magic: MediaKind['magic']): MediaKind => ({
  mediaType,
  category: 'tweet_image',
  maxBytes: 5 * MB,
  magic,
});

const ascii = (text: string): number[] => [...Buffer.from(text, 'latin1')];
const JPEG = image('image/jpeg', [{ at: 0, bytes: [0xff, 0xd8, 0xff] }]);

const KINDS: Readonly<Record<string, MediaKind>> = {
  '.jpg': JPEG,
  '.jpeg': JPEG,
  '.png': image('image/png', [{ at: 0, bytes: [0x89, ...ascii('PNG\r\n\x1a\n')] }]),
  '.webp': image('image/webp', [
    { at: 0, bytes: ascii('RIFF') },
    { at: 8, bytes: ascii('WEBP') },
  ]),
  '.gif': {
    mediaType: 'image/gif',
    category: 'tweet_gif',
    maxBytes: 15 * MB,
    magic: [{ at: 0, bytes: ascii('GIF8') }],
  },
  '.mp4': {
    mediaType: 'video/mp4',
    category: 'tweet_video',
    maxBytes: 512 * MB,
    magic: [{ at: 4, bytes: ascii('ftyp') }],
  },
};

export interface CheckedMedia {
  readonly path: string;
  readonly size: number;
  readonly mediaType: string;
  readonly category: MediaCategory;
}

/** Where the file really is, what it really is, and whether X would take it. */
export async function checkMedia(
  filePath: string,
  folders: readonly string[],
  wantedType?: string,
): Promise<CheckedMedia> {
  const path = await allowedPath(filePath, folders);
  const kind = lookup(KINDS, extname(path).toLowerCase());
  if (!kind || (wantedType !== undefined && wantedType !== kind.mediaType && wantedType !== kind.category)) {
    const why = kind ? `is ${kind.mediaType}, not ${wantedType}` : 'is of a type that X does not accept';
    throw new XError('unsupported_media_type', `The file ${why}.`, {
      detail: { extension: extname(path) },
    });
  }
  const { size } = await stat(path);
  if (size > kind.maxBytes) {
    throw new XError(
      'media_upload_error',
      `The file is ${size} bytes; X accepts ${kind.maxBytes} for ${kind.mediaType}.`,
      {
        detail: { size, max: kind.maxBytes },
      },
    );
  }
  if (!(await startsLike(path, kind))) {
    throw new XError('unsupported_media_type', `The file's content is not ${kind.mediaType}.`);
  }
  return { path, size, mediaType: kind.mediaType, category: kind.category };
}

/** Links are resolved first: a link in an allowed folder must not lead out of it. */
async function allowedPath(filePath: string, folders: readonly string[]): Promise<string> {
  const wanted = homePath(filePath);
  let real: string;
  try {
    real = await realpath(wanted);
    const info = await stat(real);
    if (!info.isFile()) throw new Error('not a file');
  } catch (cause) {
    // The same words whether it is missing or forbidden: no one can probe the disk.
    throw outside(folders, cause);
  }
  for (const folder of folders) {
    const root = await realpath(folder).catch(() => undefined);
    if (root !== undefined && isAbsolute(root) && real.startsWith(root.endsWith(sep) ? root : root + sep))
      return real;
  }
  throw outside(folders);
}

const outside = (folders: readonly string[], cause?: unknown): ToolError =>
  new ToolError(
    'file_read_error',
    `The file could not be read in an allowed directory (${folders.join(', ')}).`,
    { cause },
  );

async function startsLike(path: string, kind: MediaKind): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer } = await file.read(Buffer.alloc(16), 0, 16, 0);
    return kind.magic.every(({ at, bytes }) => bytes.every((byte, index) => buffer[at + index] === byte));
  } finally {
    await file.close();
  }
}

const CACHE_MS = 24 * 3_600_000;

export const xUploadMedia = defineXTool({
  name: 'x_upload_media',
  title: 'Upload media',
  summary:
    'Uploads an image (jpg, png, webp, gif) or mp4 from an allowed directory and returns its media_id.',
  effect: 'change',
  reach: 'network',
  category: 'media',
  profiles: CHANGE_PROFILES,
  policyName: 'upload_media',
  errors: [...ENGAGE_ERRORS, 'unsupported_media_type', 'file_read_error', 'media_upload_error'],
  requires: requirementsFor(['media_upload'], ['tweet.write', 'users.read']),
  deadlineMs: 600_000,
  governanceArgs: ['dry_run'],
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
    alt_text_error: z.string().optional().describe('X has the file but not its alt text.'),
  }),
  async present({ file_path, media_type, alt_text }, context) {
    const { target } = await accountOf(context);
    const { mediaType, size } = await checkMedia(file_path, context.services.mediaFolders, media_type);
    const name = basename(file_path);
    const rows = [
      { name: 'file_path', label: 'File', depth: 0, type: 'text', text: file_path },
      { name: 'media_type', label: 'Type', depth: 0, type: 'text', text: mediaType },
      { name: 'size', label: 'Size', depth: 0, type: 'text', text: `${Math.ceil(size / 1000)} kB` },
      { name: 'alt_text', label: 'Alt text', depth: 0, type: 'text', text: alt_text ?? 'none' },
    ] as const;
    return {
      title: `Upload ${quoted(name)} to ${target.label}`,
      done: `Uploaded ${quoted(name)} to ${target.label}`,
      act: 'upload',
      kind: 'file',
      gist: alt_text ?? file_path,
      target,
      effect: { text: 'The file is sent to X', detail: 'Visible only once a post uses it' },
      undo: { possible: false, text: 'No undo', detail: 'X discards an unused upload after a day' },
      body: [{ type: 'fields', title: 'File', source: 'countersign', rows }],
      covers: ['file_path', 'media_type', 'alt_text'],
    };
  },
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
      throw new ToolError('file_read_error', 'The file could not be read.', { cause });
    });
    const fileHash = hash('sha256', bytes);
    const key = alt_text === undefined ? fileHash : hash('sha256', `${fileHash}\n${alt_text}`);
    const about = {
      media_type: media.mediaType,
      file_size_bytes: bytes.byteLength,
      file_hash: fileHash,
      alt_text: alt_text ?? null,
    };
    context.note({ rollback: { reversible: false, note: 'X discards an unused upload after a day.' } });
    const cached = await services.growth.journal.uploadedMedia(key, now());
    if (cached) {
      const none = { upload_strategy: 'cached', segment_count: 0, processing_required: false };
      return { media_id: cached, ...about, ...none, cached: true };
    }
    const sent = await upload(context, bytes, media, alt_text);
    const expires = sent.expiresAt ?? new Date(now().getTime() + CACHE_MS);
    // Without its alt text it is another file: the next call must not take it from the cache.
    const { altTextError } = sent;
    const kept = altTextError === undefined ? key : fileHash;
    await services.growth.journal
      .mediaUploaded(kept, sent.mediaId, expires)
      .catch((error: unknown) => services.log.warn('An upload was not recorded', { error: String(error) }));
    return {
      media_id: sent.mediaId,
      ...about,
      upload_strategy: sent.segments > 1 ? 'chunked' : 'simple',
      segment_count: sent.segments,
      processing_required: sent.processing,
      cached: false,
      ...(altTextError === undefined ? {} : { alt_text: null, alt_text_error: altTextError }),
    };
  },
  // An unused upload changes nothing visible: it may be made again.
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
