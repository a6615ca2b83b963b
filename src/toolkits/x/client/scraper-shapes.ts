import type { Profile, Tweet } from '@the-convocation/twitter-scraper';
import type { JsonObject } from '../../../contract/json.ts';

/** A scraped post in the shape of the X API; what the page does not show is left out, not guessed. */
export function toPost(tweet: Tweet): JsonObject {
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

export function toUser(profile: Profile): JsonObject {
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
export const toAuthor = (tweet: Tweet): JsonObject => ({
  id: tweet.userId ?? '',
  username: tweet.username ?? '',
  name: tweet.name ?? tweet.username ?? '',
});

function defined(values: Record<string, string | boolean | undefined>): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(values)) if (value !== undefined) result[key] = value;
  return result;
}
