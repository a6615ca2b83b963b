import { open, realpath, stat } from 'node:fs/promises';
import { extname, isAbsolute, sep } from 'node:path';
import { ToolFault } from '../../../contract/faults.ts';
import { homePath } from '../../../lib/home-path.ts';
import type { MediaCategory } from '../client/api.ts';

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
  const kind = KINDS[extname(path).toLowerCase()];
  if (!kind || (wantedType !== undefined && wantedType !== kind.mediaType && wantedType !== kind.category)) {
    const why = kind ? `is ${kind.mediaType}, not ${wantedType}` : 'is of a type X does not take';
    throw new ToolFault('unsupported_media_type', `The file ${why}.`, {
      detail: { extension: extname(path) },
    });
  }
  const { size } = await stat(path);
  if (size > kind.maxBytes) {
    throw new ToolFault(
      'media_upload_error',
      `The file is ${size} bytes; X takes ${kind.maxBytes} of ${kind.mediaType}.`,
      {
        detail: { size, max: kind.maxBytes },
      },
    );
  }
  if (!(await startsLike(path, kind))) {
    throw new ToolFault('unsupported_media_type', `The file's content is not ${kind.mediaType}.`);
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
    // The same words whether it is missing or forbidden: nobody can feel their way through the disk.
    throw outside(folders, cause);
  }
  for (const folder of folders) {
    const root = await realpath(folder).catch(() => undefined);
    if (root !== undefined && isAbsolute(root) && real.startsWith(root.endsWith(sep) ? root : root + sep))
      return real;
  }
  throw outside(folders);
}

const outside = (folders: readonly string[], cause?: unknown): ToolFault =>
  new ToolFault(
    'file_read_error',
    `The file could not be read in an allowed folder (${folders.join(', ')}).`,
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
