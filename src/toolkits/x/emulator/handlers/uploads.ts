import { lookup } from '../../../../lib/lookup.ts';
import { type JsonDoc, type MediaDoc, nextId } from '../documents.ts';
import { type Answer, answer, type Call, type Handler, text } from '../handler.ts';
import { invalidRequest, noSuchResource } from '../problems.ts';

const LIFETIME_S = 86_400;
const VIDEO_WORK_MS = 2_000;
const MB = 1024 * 1024;

/** X's limits by category. */
const MAX_BYTES: Readonly<Record<string, number>> = {
  tweet_image: 5 * MB,
  dm_image: 5 * MB,
  tweet_gif: 15 * MB,
  dm_gif: 15 * MB,
  tweet_video: 512 * MB,
  dm_video: 512 * MB,
  subtitles: 1 * MB,
};

function needMedia(call: Call, wire: string): MediaDoc {
  const id = text(call, 'media_id');
  const media = call.state.get('media', id);
  if (media?.owner_id === call.own && Date.parse(media.expires_at) > call.now.getTime()) return media;
  throw noSuchResource('media', wire, id);
}

const bad = (name: string, message: string) => invalidRequest([{ name, value: '', message }]);

function open(call: Call, media_type: string, category: string, total: number): MediaDoc {
  const max = lookup(MAX_BYTES, category) ?? 5 * MB;
  if (total > max)
    throw bad('total_bytes', `The file is larger than the ${max} bytes allowed for ${category}`);
  const id = nextId(call.state, call.now);
  const prefix = media_type.startsWith('video/') ? '13' : media_type === 'image/gif' ? '16' : '3';
  const media: MediaDoc = {
    id,
    media_key: `${prefix}_${id}`,
    owner_id: call.own,
    media_type,
    category,
    total_bytes: total,
    segments: {},
    state: 'open',
    expires_at: new Date(call.now.getTime() + LIFETIME_S * 1000).toISOString(),
  };
  call.state.put('media', id, media);
  return media;
}

/** Videos and GIFs take a moment; the clock decides when they are done. */
function close(call: Call, media: MediaDoc): MediaDoc {
  const works = media.category.endsWith('video') || media.category.endsWith('gif');
  const closed: MediaDoc = works
    ? { ...media, state: 'processing', ready_at: new Date(call.now.getTime() + VIDEO_WORK_MS).toISOString() }
    : { ...media, state: 'succeeded' };
  call.state.put('media', media.id, closed);
  return closed;
}

function settled(call: Call, media: MediaDoc): MediaDoc {
  if (media.state !== 'processing' || Date.parse(media.ready_at ?? '') > call.now.getTime()) return media;
  const done: MediaDoc = { ...media, state: 'succeeded' };
  call.state.put('media', media.id, done);
  return done;
}

function render(call: Call, media: MediaDoc): Answer {
  const info: JsonDoc =
    media.state === 'processing'
      ? { processing_info: { state: 'in_progress', check_after_secs: 1, progress_percent: 50 } }
      : media.ready_at
        ? { processing_info: { state: 'succeeded', progress_percent: 100 } }
        : {};
  return answer({
    id: media.id,
    media_key: media.media_key,
    size: media.total_bytes,
    expires_after_secs: Math.max(0, Math.floor((Date.parse(media.expires_at) - call.now.getTime()) / 1000)),
    ...info,
  });
}

const received = (media: MediaDoc): number =>
  Object.values(media.segments).reduce((sum, bytes) => sum + bytes, 0);

const sizeOf = (value: unknown): number => (value instanceof Uint8Array ? value.byteLength : 0);

const CATEGORY_TYPES: Readonly<Record<string, string>> = {
  image: 'image/png',
  gif: 'image/gif',
  video: 'video/mp4',
};

export const uploads = {
  media_initialize: (call) => {
    const type = text(call, 'media_type');
    const guessed = type.startsWith('video/')
      ? 'tweet_video'
      : type === 'image/gif'
        ? 'tweet_gif'
        : 'tweet_image';
    const category = call.args.media_category === undefined ? guessed : text(call, 'media_category');
    return render(call, open(call, type, category, Number(call.args.total_bytes)));
  },
  media_append: (call) => {
    const media = needMedia(call, 'id');
    if (media.state !== 'open') throw bad('id', 'The upload was already finalized');
    const segments = { ...media.segments, [String(call.args.segment_index)]: sizeOf(call.args.media) };
    const next = { ...media, segments };
    if (received(next) > media.total_bytes) throw bad('media', 'More bytes were sent than total_bytes said');
    call.state.put('media', media.id, next);
    return answer({ expires_at: Math.floor(Date.parse(media.expires_at) / 1000) });
  },
  media_finalize: (call) => {
    const media = needMedia(call, 'id');
    if (media.state !== 'open') return render(call, settled(call, media));
    if (received(media) !== media.total_bytes) {
      throw bad('id', `Only ${received(media)} of ${media.total_bytes} bytes were sent`);
    }
    const count = Object.keys(media.segments).length;
    if (
      !Array.from({ length: count }, (_, index) => String(index)).every((index) =>
        Object.hasOwn(media.segments, index),
      )
    ) {
      throw bad('id', 'Segments are missing');
    }
    return render(call, close(call, media));
  },
  media_status: (call) => render(call, settled(call, needMedia(call, 'media_id'))),
  media_upload: (call) => {
    const category = text(call, 'media_category');
    const kind = category.split('_')[1] ?? 'image';
    const size = sizeOf(call.args.media);
    if (size === 0) throw bad('media', 'The file is empty');
    return render(call, close(call, open(call, lookup(CATEGORY_TYPES, kind) ?? 'image/png', category, size)));
  },
  media_metadata: (call) => {
    const media = needMedia(call, 'id');
    if (call.args.alt_text !== undefined)
      call.state.put('media', media.id, { ...media, alt_text: text(call, 'alt_text') });
    return answer({ id: media.id, associated_metadata: { alt_text: { text: text(call, 'alt_text') } } });
  },
} satisfies Record<string, Handler>;
