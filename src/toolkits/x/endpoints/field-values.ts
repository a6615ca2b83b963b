import { lookup } from '../../../lib/lookup.ts';
import type { Endpoint, EntityName } from './endpoint.ts';

/** Values of X's description 2.167 for the parameters that choose what a reply contains. A test compares them. */
const FIELD_VALUES: Readonly<Record<string, string>> = {
  'post.fields':
    'article article_title attachments card_uri community_id context_annotations conversation_id created_at display_text_range edit_controls entities geo id lang matched_media_notes media_metadata non_public_metrics note_post note_request_suggestions organic_metrics paid_partnership possibly_sensitive promoted_metrics public_metrics reply_settings scopes source suggested_source_links suggested_source_links_with_counts text withheld',
  'user.fields':
    'confirmed_email connection_status created_at description entities id is_identity_verified location name parody profile_banner_url profile_image_url protected public_metrics receives_your_dm subscribes_to_you subscription subscription_type url username verified verified_followers_count verified_type withheld',
  'list.fields': 'created_at description follower_count id member_count name private',
  'space.fields':
    'created_at ended_at id is_ticketed lang participant_count scheduled_start started_at state subscriber_count title updated_at',
  'dm_event.fields': 'attachments created_at dm_conversation_id entities event_type id text',
  'media.fields':
    'alt_text duration_ms height media_key non_public_metrics organic_metrics preview_image_url promoted_metrics public_metrics type url variants width',
  'poll.fields': 'duration_minutes end_datetime id options voting_status',
  'place.fields': 'contained_within country country_code full_name geo id name place_type',
  'topic.fields': 'description id name',
  'compliance_job.fields':
    'created_at download_expires_at download_url id name resumable status type upload_expires_at upload_url',
  'usage.fields':
    'cap_reset_day daily_client_app_usage daily_project_usage project_cap project_id project_usage',
};

const DM_EXPANSIONS = 'attachments.media_keys participant_ids referenced_posts sender_id';
const EXPANSIONS: Readonly<Partial<Record<EntityName, string>>> = {
  post: 'article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet attachments.poll_ids author_id edit_history_post_ids entities.mentions.username geo.place_id in_reply_to_user_id referenced_posts username',
  user: 'affiliation most_recent_post_id pinned_post_id',
  list: 'owner_id',
  space: 'creator_id host_ids invited_user_ids speaker_ids topic_ids',
  dm_event: DM_EXPANSIONS,
  dm_conversation: DM_EXPANSIONS,
};

/**
 * X's description calls posts `post` and has `post.fields`; its servers also take the older `tweet.fields` with the
 * older values. We send the spelling of the description, because only that one is promised. A server that answers 400
 * to it is asked once more in the older spelling (client/spelling.ts).
 */
const OLD_TO_NEW: Readonly<Record<string, string>> = {
  referenced_tweets: 'referenced_posts',
  'referenced_tweets.id': 'referenced_posts',
  'referenced_tweets.id.author_id': 'referenced_posts',
  edit_history_tweet_ids: 'edit_history_post_ids',
  note_tweet: 'note_post',
  pinned_tweet_id: 'pinned_post_id',
  most_recent_tweet_id: 'most_recent_post_id',
};
const NEW_TO_OLD: Readonly<Record<string, string>> = {
  referenced_posts: 'referenced_tweets.id',
  edit_history_post_ids: 'edit_history_tweet_ids',
  note_post: 'note_tweet',
  pinned_post_id: 'pinned_tweet_id',
  most_recent_post_id: 'most_recent_tweet_id',
};
/** Fields of a post that the description only offers as expansions. */
const OLD_POST_FIELDS: Readonly<Record<string, string>> = {
  author_id: 'author_id',
  in_reply_to_user_id: 'in_reply_to_user_id',
  referenced_posts: 'referenced_tweets',
  edit_history_post_ids: 'edit_history_tweet_ids',
};

export type Query = readonly (readonly [string, string])[];

const words = (text: string): string[] => text.split(' ');
const items = (text: string): string[] => text.split(',').filter((item) => item !== '');
const entityOf = ({ reply }: Endpoint): EntityName | undefined => ('of' in reply ? reply.of : undefined);

/** What X allows in a parameter of this endpoint; undefined for one that does not choose fields. */
export function allowedValues(endpoint: Endpoint, name: string): readonly string[] | undefined {
  const entity = entityOf(endpoint);
  const own = name === 'expansions' ? entity && EXPANSIONS[entity] : lookup(FIELD_VALUES, name);
  return own === undefined ? undefined : words(own);
}

/** The same for a request in the older spelling, which mixes both generations of values. */
export function allowedOldValues(endpoint: Endpoint, name: string): readonly string[] | undefined {
  const values = allowedValues(endpoint, name === 'tweet.fields' ? 'post.fields' : name);
  if (!values || (name !== 'tweet.fields' && name !== 'expansions')) return values;
  const more = name === 'tweet.fields' ? Object.values(OLD_POST_FIELDS) : Object.keys(OLD_TO_NEW);
  return [...values, ...values.map((value) => lookup(NEW_TO_OLD, value) ?? value), ...more];
}

/** Puts each wanted property where the description has it: among the fields, or among the expansions. */
export function inDescribedSpelling(endpoint: Endpoint, query: Query): Query {
  const expandable = allowedValues(endpoint, 'expansions') ?? [];
  const others: (readonly [string, string])[] = [];
  const chosen = new Map<string, Set<string>>();
  const choose = (name: string, value: string): void => {
    chosen.set(name, (chosen.get(name) ?? new Set()).add(value));
  };
  for (const pair of query) {
    const name = pair[0] === 'tweet.fields' ? 'post.fields' : pair[0];
    const allowed = allowedValues(endpoint, name);
    if (!allowed) {
      others.push(pair);
      continue;
    }
    for (const item of items(pair[1])) {
      const value = lookup(OLD_TO_NEW, item) ?? item;
      choose(!allowed.includes(value) && expandable.includes(value) ? 'expansions' : name, value);
    }
  }
  return [...others, ...[...chosen].map(([name, values]) => [name, [...values].join(',')] as const)];
}

/** The same request as servers understand it that know posts as tweets. */
export function inOldSpelling(query: Query): Query {
  const expansions = items(query.find(([name]) => name === 'expansions')?.[1] ?? '');
  return query.map(([name, text]) => {
    const values = items(text).map((value) => lookup(NEW_TO_OLD, value) ?? value);
    if (name === 'expansions') return [name, values.join(',')];
    if (name !== 'post.fields') return [name, text];
    const more = expansions.flatMap((value) => lookup(OLD_POST_FIELDS, value) ?? []);
    return ['tweet.fields', [...new Set([...values, ...more])].join(',')];
  });
}

/** What an expansion brings next to the data; all others bring users. */
const BRINGS: Readonly<Record<string, readonly string[]>> = {
  referenced_posts: ['posts', 'tweets'],
  edit_history_post_ids: ['posts', 'tweets'],
  pinned_post_id: ['posts', 'tweets'],
  most_recent_post_id: ['posts', 'tweets'],
  'attachments.media_source_tweet': ['posts', 'tweets'],
  'attachments.media_keys': ['media'],
  'article.cover_media': ['media'],
  'article.media_entities': ['media'],
  'attachments.poll_ids': ['polls'],
  'geo.place_id': ['places'],
  topic_ids: ['topics'],
};

/**
 * The kinds of objects in `includes` that were asked for. X has `owner_id` and the like only as expansions, which bring
 * the whole user: a caller who wanted the ID alone must not get more than that.
 */
export function askedIncludes(endpoint: Endpoint, args: Readonly<Record<string, unknown>>): Set<string> {
  const { expansions } = endpoint.params;
  const asked = [args.expansions ?? expansions?.fallback ?? '', endpoint.queryConstants?.expansions ?? ''];
  const values = asked.flatMap((text) => items(String(text).replaceAll(' ', '')));
  return new Set(values.flatMap((value) => lookup(BRINGS, lookup(OLD_TO_NEW, value) ?? value) ?? ['users']));
}
