import { z } from 'zod';

/** Length is judged as X counts it, in the tool's check: no schema can say it. */
export const postText = z.string().min(1).max(25_000);

export const mediaIds = z
  .array(z.string().regex(/^\d{1,19}$/, 'must be a numeric id'))
  .min(1)
  .max(4)
  .describe('From x_upload_media.');

export const postedShape = z.object({ id: z.string(), text: z.string() });
