import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { postText } from './posting-input.ts';

export const threadTexts = z.array(postText).min(2).max(100);

export const threadMedia = z
  .array(z.array(z.string().regex(/^\d{1,19}$/, 'must be a numeric id')).max(4))
  .optional()
  .describe('Media ids for each part, in order; [] for none.');

export function checkThreadMedia(tweets: readonly string[], media: readonly (readonly string[])[]): void {
  if (media.length <= tweets.length) return;
  throw new ToolFault(
    'validation_error',
    `media_ids has ${media.length} entries for ${tweets.length} parts.`,
    {
      detail: { field: 'media_ids' },
    },
  );
}
