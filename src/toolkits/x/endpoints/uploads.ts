import type { EndpointRow } from './endpoint.ts';
import { body, path, query } from './params.ts';

const scopes = ['media.write'] as const;
const media = { shape: 'one', of: 'media' } as const;
const categories = ['tweet_image', 'tweet_video', 'tweet_gif', 'dm_image', 'dm_video', 'dm_gif', 'subtitles'];
const limit = { max: 500, seconds: 900 } as const;

export const uploads = {
  media_upload: {
    method: 'POST',
    path: '/2/media/upload',
    params: {
      media: body('media', 'binary', { required: true }),
      media_category: body('media_category', 'text', { required: true, values: categories }),
    },
    encoding: 'multipart',
    scopes,
    reply: media,
    limit,
  },
  media_initialize: {
    method: 'POST',
    path: '/2/media/upload/initialize',
    params: {
      media_type: body('media_type', 'text', {
        required: true,
        values: ['video/mp4', 'image/jpeg', 'image/gif', 'image/png', 'image/webp'],
      }),
      total_bytes: body('total_bytes', 'integer', { required: true, min: 0, max: 17_179_869_184 }),
      media_category: body('media_category', 'text', { values: categories }),
    },
    scopes,
    reply: media,
    limit,
  },
  media_append: {
    method: 'POST',
    path: '/2/media/upload/{id}/append',
    params: {
      media_id: path('id', 'media_id'),
      segment_index: body('segment_index', 'integer', { required: true, min: 0, max: 999 }),
      media: body('media', 'binary', { required: true }),
    },
    encoding: 'multipart',
    scopes,
    reply: { shape: 'flags', fields: ['expires_at'] },
    limit: { max: 1875, seconds: 900 },
  },
  media_finalize: {
    method: 'POST',
    path: '/2/media/upload/{id}/finalize',
    params: { media_id: path('id', 'media_id') },
    scopes,
    reply: media,
    limit,
  },
  media_status: {
    method: 'GET',
    path: '/2/media/upload',
    params: { media_id: query('media_id', 'media_id', { required: true }) },
    queryConstants: { command: 'STATUS' },
    scopes,
    reply: media,
    limit: { max: 1000, seconds: 900 },
  },
  media_metadata: {
    method: 'POST',
    path: '/2/media/metadata',
    params: {
      media_id: body('id', 'media_id', { required: true }),
      alt_text: body('metadata.alt_text.text', 'text', { maxLength: 1000 }),
    },
    scopes,
    reply: { shape: 'flags', fields: ['id'] },
    limit,
  },
} as const satisfies Record<string, EndpointRow>;
