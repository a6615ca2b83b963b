import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { XError } from '../errors.ts';
import type { MediaFile, UploadedMedia, XReply } from './api.ts';

type UploadStep = 'media_initialize' | 'media_append' | 'media_finalize' | 'media_status' | 'media_metadata';

export type UploadProgress = (sent: number, total: number) => void;

export interface UploadPorts {
  call(step: UploadStep, args: Readonly<Record<string, unknown>>): Promise<XReply>;
  sleep(ms: number): Promise<void>;
  now(): Date;
  readonly progress?: UploadProgress;
}

const CHUNK = 4 * 1024 * 1024;
const MAX_WAIT_MS = 300_000;
const FIRST_WAIT_S = 5;
const LONGEST_WAIT_S = 30;

const processing = z.looseObject({
  state: z.string(),
  check_after_secs: z.number().optional(),
  error: z.looseObject({ message: z.string().optional() }).optional(),
});

const answer = z.looseObject({
  data: z.looseObject({
    id: z.string(),
    media_key: z.string().optional(),
    expires_after_secs: z.number().optional(),
    processing_info: processing.optional(),
  }),
});

type Info = z.output<typeof answer>['data'];

/** Initialize, append, finalize, wait, describe. Uploaded bytes are not a post yet: a failure leaves nothing behind. */
export async function upload(file: MediaFile, ports: UploadPorts): Promise<UploadedMedia> {
  const total = file.bytes.byteLength;
  const started = await step(ports, 'media_initialize', {
    media_type: file.mediaType,
    total_bytes: total,
    media_category: file.category,
  });
  const segments = await append(file.bytes, started.id, ports);
  let info = await step(ports, 'media_finalize', { media_id: started.id });
  const wasProcessed = info.processing_info !== undefined;
  info = await waitUntilReady(info, ports);
  const altTextError = file.altText ? await describe(info.id, file.altText, ports) : undefined;
  const lifetime = info.expires_after_secs ?? started.expires_after_secs;
  return {
    mediaId: info.id,
    mediaKey: info.media_key ?? started.media_key,
    size: total,
    segments,
    processing: wasProcessed,
    expiresAt: lifetime === undefined ? undefined : new Date(ports.now().getTime() + lifetime * 1000),
    ...(altTextError === undefined ? {} : { altTextError }),
  };
}

/** The bytes are there whatever becomes of their description: without the ID they would be uploaded again. */
async function describe(mediaId: string, altText: string, ports: UploadPorts): Promise<string | undefined> {
  try {
    await ports.call('media_metadata', { media_id: mediaId, alt_text: altText });
    return undefined;
  } catch (error) {
    if (error instanceof ToolError) return error.message;
    throw error;
  }
}

async function append(bytes: Uint8Array, mediaId: string, ports: UploadPorts): Promise<number> {
  let index = 0;
  for (let from = 0; from < bytes.byteLength; from += CHUNK, index++) {
    const media = bytes.subarray(from, from + CHUNK);
    await guarded(() => ports.call('media_append', { media_id: mediaId, segment_index: index, media }));
    ports.progress?.(Math.min(from + CHUNK, bytes.byteLength), bytes.byteLength);
  }
  return index;
}

async function waitUntilReady(first: Info, ports: UploadPorts): Promise<Info> {
  let info = first;
  let wait = FIRST_WAIT_S;
  for (let waited = 0; ; waited += wait * 1000) {
    const state = info.processing_info;
    if (!state || state.state === 'succeeded') return info;
    if (state.state === 'failed') {
      throw new XError(
        'media_upload_error',
        `X could not process the file: "${state.error?.message ?? 'no reason given'}"`,
      );
    }
    if (waited >= MAX_WAIT_MS)
      throw new XError('media_upload_error', 'X did not finish processing the file within 5 minutes');
    wait = Math.min(state.check_after_secs ?? wait * 2, LONGEST_WAIT_S);
    await ports.sleep(wait * 1000);
    info = await step(ports, 'media_status', { media_id: info.id });
  }
}

async function step(
  ports: UploadPorts,
  name: UploadStep,
  args: Readonly<Record<string, unknown>>,
): Promise<Info> {
  const parsed = answer.safeParse((await guarded(() => ports.call(name, args))).json);
  if (parsed.success) return parsed.data.data;
  throw new XError('media_upload_error', `X answered ${name} without a media ID`);
}

/** Refusals of the file itself are media errors; everything else keeps its own code. Nothing was published either way. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const aboutFile = error.code === 'validation_error' || (error.code === 'x_api_error' && !error.retryable);
    const { message, cause, resetAt, detail } = error;
    const options = { cause, resetAt, detail, effect: 'none' as const };
    throw aboutFile ? new XError('media_upload_error', message, options) : error.reworded(message, options);
  }
}
