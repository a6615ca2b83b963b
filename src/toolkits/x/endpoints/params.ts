import type { Param, ParamKind, Params } from './endpoint.ts';

type Extra = Partial<Omit<Param, 'in' | 'kind'>>;

const make =
  (place: Param['in']) =>
  (wire: string, kind: ParamKind, extra: Extra = {}): Param => ({
    wire,
    in: place,
    kind,
    required: place === 'path',
    ...extra,
  });

export const path = make('path');
export const query = make('query');
export const body = make('body');

/** The own user's id as a path part; tools ask for it because their documents do. */
export const self = (wire = 'id', required = true): Param =>
  path(wire, 'self_id', { required, doc: 'own ID, or me' });

/** `max_results` and `pagination_token`, with X's bounds. `fallback` where the documented default is not X's own. */
export const paged = (
  min: number,
  max: number,
  token = 'pagination_token',
  fallback?: { readonly fallback: number },
): Params => ({
  max_results: query('max_results', 'integer', { min, max, ...fallback }),
  pagination_token: query(token, 'token', { doc: 'next_token of the previous page' }),
});

const FIELDS = {
  tweet_fields: 'post.fields',
  user_fields: 'user.fields',
  list_fields: 'list.fields',
  space_fields: 'space.fields',
  media_fields: 'media.fields',
  dm_event_fields: 'dm_event.fields',
  expansions: 'expansions',
} as const;

export type FieldName = keyof typeof FIELDS;

/** Which fields X should send. Callers who name none get what the tools need. */
export function fields(fallbacks: Partial<Record<FieldName, string>>): Params {
  const params: Record<string, Param> = {};
  for (const [name, fallback] of Object.entries(fallbacks) as [FieldName, string][]) {
    params[name] = query(FIELDS[name], 'csv', {
      doc: 'comma-separated',
      ...(fallback ? { fallback } : {}),
    });
  }
  return params;
}

// What the tools need of each kind; field-values.ts knows whether X has it as a field or as an expansion.
export const POST_FIELDS =
  'author_id,conversation_id,created_at,in_reply_to_user_id,lang,public_metrics,referenced_tweets';
export const USER_FIELDS = 'created_at,description,public_metrics,verified';
export const LIST_FIELDS = 'created_at,description,follower_count,member_count,owner_id,private';
export const SPACE_FIELDS =
  'created_at,creator_id,host_ids,participant_count,scheduled_start,started_at,state,title';
export const DM_FIELDS =
  'attachments,created_at,dm_conversation_id,event_type,participant_ids,sender_id,text';

/** Window of a timeline or search. */
export const window: Params = {
  start_time: query('start_time', 'time'),
  end_time: query('end_time', 'time'),
  since_id: query('since_id', 'post_id'),
  until_id: query('until_id', 'post_id'),
};
