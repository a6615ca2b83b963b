import { ads } from './ads.ts';
import { compliance } from './compliance.ts';
import { defineEndpoint, type Endpoint, type EndpointRow } from './endpoint.ts';
import { engagement } from './engagement.ts';
import type { EndpointId } from './ids.ts';
import { lists } from './lists.ts';
import { messages } from './messages.ts';
import { moderation } from './moderation.ts';
import { OTHERS } from './others.ts';
import { spaces } from './spaces.ts';
import { tweets } from './tweets.ts';
import { uploads } from './uploads.ts';
import { users } from './users.ts';

// The type demands every id exactly once: a missing endpoint does not compile.
const ROWS: Readonly<Record<EndpointId, EndpointRow>> = {
  ...tweets,
  ...users,
  ...engagement,
  ...uploads,
  ...lists,
  ...moderation,
  ...messages,
  ...spaces,
  ...compliance,
  ...ads,
};

/** Every endpoint of X that a tool can reach: what the client sends, the sandbox answers and the tests compare. */
export const ENDPOINTS = Object.fromEntries(
  Object.entries(ROWS).map(([id, row]) => [
    id,
    defineEndpoint(id as EndpointId, row, OTHERS[id as EndpointId] ?? []),
  ]),
) as unknown as Readonly<Record<EndpointId, Endpoint>>;

export const ALL_ENDPOINTS: readonly Endpoint[] = Object.values(ENDPOINTS);
