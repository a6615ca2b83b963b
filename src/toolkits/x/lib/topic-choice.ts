import { ToolFault } from '../../../contract/faults.ts';
import type { XSettings } from '../services.ts';
import { topicsOf } from './scoring.ts';

/** The topic a caller left open: the first configured one. */
export function topicOr(given: string | undefined, business: XSettings['business']): string {
  const topic = given ?? topicsOf(business)[0];
  if (topic !== undefined) return topic;
  throw new ToolFault('validation_error', 'No topic is given and business.industry_topics is empty.', {
    detail: { field: 'topic' },
  });
}
