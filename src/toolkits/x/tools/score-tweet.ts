import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { scorePost, scoreShape } from '../lib/scoring.ts';
import { defineXTool } from '../services.ts';

const count = z.number().int().min(0);

export const scoreTweet = defineXTool({
  name: 'score_tweet',
  title: 'Score a post',
  summary:
    'Scores a post for a reply, 0 to 100, by six signals: keywords, reach, recency, engagement, replies, content.',
  effect: 'read',
  reach: 'local',
  category: 'scoring',
  profiles: READ_PROFILES,
  faults: ['invalid_input'],
  input: z.object({
    tweet: z
      .object({
        text: z.string(),
        author_username: z.string(),
        author_followers: count,
        likes: count,
        retweets: count,
        replies: count,
        created_at: z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'must be an ISO-8601 time'),
        has_media: z.boolean().optional(),
        is_quote: z.boolean().optional(),
      })
      .strict(),
  }),
  output: scoreShape.extend({ threshold: z.number(), author_username: z.string() }),
  async run({ tweet }, { services, now }) {
    const score = scorePost(
      {
        text: tweet.text,
        authorFollowers: tweet.author_followers,
        likes: tweet.likes,
        retweets: tweet.retweets,
        replies: tweet.replies,
        createdAt: tweet.created_at,
        hasMedia: tweet.has_media ?? false,
        isQuote: tweet.is_quote ?? false,
      },
      services.settings,
      now(),
    );
    return {
      ...score,
      threshold: services.settings.scoring.threshold,
      author_username: tweet.author_username,
    };
  },
});
