import type { EndpointId } from '../../endpoints/ids.ts';
import type { Handler } from '../handler.ts';
import { admin } from './admin.ts';
import { ads } from './ads.ts';
import { lists } from './lists.ts';
import { messages } from './messages.ts';
import { moderation, people } from './people.ts';
import { posts } from './posts.ts';
import { publishing } from './publishing.ts';
import { spaces } from './spaces.ts';
import { uploads } from './uploads.ts';

/** One per endpoint of the table; a missing one does not compile. */
export const HANDLERS: Readonly<Record<EndpointId, Handler>> = {
  ...posts,
  ...publishing,
  ...people,
  ...lists,
  ...moderation,
  ...messages,
  ...spaces,
  ...admin,
  ...uploads,
  ...ads,
};
