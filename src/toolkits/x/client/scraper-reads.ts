import type { Profile, Scraper, Tweet } from '@the-convocation/twitter-scraper';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { put } from '../../../lib/lookup.ts';
import type { EndpointId } from '../endpoints/ids.ts';
import { splitList } from '../endpoints/values.ts';

/** A scraped post in the shape of the X API; what the page does not show is left out, not guessed. */
function toPost(tweet: Tweet): JsonObject {
  const references = [
    tweet.inReplyToStatusId ? { type: 'replied_to', id: tweet.inReplyToStatusId } : undefined,
    tweet.quotedStatusId ? { type: 'quoted', id: tweet.quotedStatusId } : undefined,
    tweet.retweetedStatusId ? { type: 'retweeted', id: tweet.retweetedStatusId } : undefined,
  ].filter((reference) => reference !== undefined);
  return {
    id: tweet.id ?? '',
    text: tweet.text ?? '',
    ...defined({
      author_id: tweet.userId,
      conversation_id: tweet.conversationId,
      created_at: tweet.timeParsed?.toISOString(),
    }),
    public_metrics: {
      retweet_count: tweet.retweets ?? 0,
      reply_count: tweet.replies ?? 0,
      like_count: tweet.likes ?? 0,
      bookmark_count: tweet.bookmarkCount ?? 0,
      impression_count: tweet.views ?? 0,
    },
    ...(references.length > 0 ? { referenced_tweets: references } : {}),
  };
}

function toUser(profile: Profile): JsonObject {
  return {
    id: profile.userId ?? '',
    username: profile.username ?? '',
    name: profile.name ?? profile.username ?? '',
    ...defined({
      description: profile.biography,
      location: profile.location,
      created_at: profile.joined?.toISOString(),
      profile_image_url: profile.avatar,
      protected: profile.isPrivate,
      verified: profile.isBlueVerified ?? profile.isVerified,
      pinned_tweet_id: profile.pinnedTweetIds?.[0],
    }),
    public_metrics: {
      followers_count: profile.followersCount ?? 0,
      following_count: profile.followingCount ?? profile.friendsCount ?? 0,
      tweet_count: profile.tweetsCount ?? profile.statusesCount ?? 0,
      listed_count: profile.listedCount ?? 0,
      like_count: profile.likesCount ?? 0,
    },
  };
}

/** The author of scraped posts, as an `includes.users` entry. */
const toAuthor = (tweet: Tweet): JsonObject => ({
  id: tweet.userId ?? '',
  username: tweet.username ?? '',
  name: tweet.name ?? tweet.username ?? '',
});

function defined(values: Record<string, string | boolean | undefined>): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(values)) if (value !== undefined) put(result, key, value);
  return result;
}

type Read = (scraper: Scraper, args: JsonObject) => Promise<JsonObject>;

const DEFAULT_COUNT = 20;
/** `SearchMode.Latest` of the library, whose enum would have to be imported eagerly. */
const LATEST = 1;

/** What the library can read, in the shapes of the X API. */
export const SCRAPER_READS: Readonly<Partial<Record<EndpointId, Read>>> = {
  tweet_by_id: async (scraper, args) => {
    const tweet = await scraper.getTweet(text(args.tweet_id));
    if (!tweet) throw new ToolError('not_found', `X shows no post ${text(args.tweet_id)}`);
    return { data: toPost(tweet), includes: { users: [toAuthor(tweet)] } };
  },
  x_v2_tweets_lookup: async (scraper, args) => {
    const found = await Promise.all(splitList(text(args.ids)).map((id) => scraper.getTweet(id)));
    return posts(found.filter((tweet) => tweet !== null));
  },
  search_recent: async (scraper, args) => {
    const page = await scraper.fetchSearchTweets(text(args.query), count(args), LATEST, cursor(args));
    return posts(since(page.tweets, args.since_id), page.next);
  },
  user_tweets: async (scraper, args) =>
    posts(
      since(
        await take(scraper.getTweetsByUserId(text(args.user_id), count(args)), count(args)),
        args.since_id,
      ),
    ),
  liked_tweets: async (scraper, args) => {
    const page = await scraper.fetchLikedTweets(text(args.user_id), count(args), cursor(args));
    return posts(page.tweets, page.next);
  },
  x_v2_lists_tweets: async (scraper, args) => {
    const page = await scraper.fetchListTweets(text(args.id), count(args), cursor(args));
    return posts(page.tweets, page.next);
  },
  user_by_username: async (scraper, args) => ({
    data: toUser(await scraper.getProfile(text(args.username).replace(/^@/, ''))),
  }),
  user_by_id: async (scraper, args) => ({ data: toUser(await profileOf(scraper, text(args.user_id))) }),
  users_by_ids: async (scraper, args) => {
    const ids = Array.isArray(args.user_ids) ? args.user_ids.map(text) : [];
    return users(await Promise.all(ids.map((id) => profileOf(scraper, id))));
  },
  x_v2_users_lookup_by_usernames: async (scraper, args) =>
    users(await Promise.all(splitList(text(args.usernames)).map((name) => scraper.getProfile(name)))),
  followers: async (scraper, args) => {
    const page = await scraper.fetchProfileFollowers(text(args.user_id), count(args), cursor(args));
    return users(page.profiles, page.next);
  },
  following: async (scraper, args) => {
    const page = await scraper.fetchProfileFollowing(text(args.user_id), count(args), cursor(args));
    return users(page.profiles, page.next);
  },
};

/** The library looks profiles up by name only; a post of the account contains the name. */
async function profileOf(scraper: Scraper, id: string): Promise<Profile> {
  const [post] = await take(scraper.getTweetsByUserId(id, 1), 1);
  if (!post?.username) {
    throw new ToolError(
      'not_found',
      `The scraper finds no account ${id}: it can only be found by id when it has public posts`,
    );
  }
  return scraper.getProfile(post.username);
}

async function take<T>(items: AsyncIterable<T>, max: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length >= max) break;
  }
  return taken;
}

const since = (tweets: readonly Tweet[], id: JsonValue | undefined): readonly Tweet[] =>
  typeof id === 'string' ? tweets.filter((tweet) => BigInt(tweet.id ?? 0) > BigInt(id)) : tweets;

function posts(tweets: readonly Tweet[], next?: string): JsonObject {
  const authors = new Map(tweets.map((tweet) => [tweet.userId, toAuthor(tweet)]));
  return {
    data: tweets.map(toPost),
    includes: { users: [...authors.values()] },
    meta: { result_count: tweets.length, ...(next ? { next_token: next } : {}) },
  };
}

const users = (profiles: readonly Profile[], next?: string): JsonObject => ({
  data: profiles.map(toUser),
  meta: { result_count: profiles.length, ...(next ? { next_token: next } : {}) },
});

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const count = (args: JsonObject): number =>
  typeof args.max_results === 'number' ? args.max_results : DEFAULT_COUNT;
const cursor = (args: JsonObject): string | undefined =>
  typeof args.pagination_token === 'string' ? args.pagination_token : undefined;
