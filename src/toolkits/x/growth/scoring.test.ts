import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as config from '../config.ts';
import { keywordsOf, type Scorable, scorePost } from '../growth/scoring.ts';

const settings = {
  scoring: config.scoring.schema.parse({}),
  business: config.business.schema.parse({
    product_keywords: ['uptime'],
    competitor_keywords: ['Pingbird'],
    industry_topics: ['status page'],
  }),
};
const now = new Date('2026-02-25T12:00:00Z');
const post: Scorable = {
  text: 'nothing',
  authorFollowers: 5000,
  likes: 0,
  retweets: 0,
  replies: 0,
  createdAt: '2026-02-25T11:58:00Z',
  hasMedia: false,
  isQuote: false,
};
const score = (more: Partial<Scorable>) => scorePost({ ...post, ...more }, settings, now);

describe('the score of a post', () => {
  it('weighs a phrase twice as much as a word', () => {
    expect(score({ text: 'uptime' }).keyword_relevance).toBe(6.25);
    expect(score({ text: 'our STATUS PAGE' }).keyword_relevance).toBe(12.5);
    expect(score({ text: 'uptime pingbird status page' }).keyword_relevance).toBe(25);
    const none = { ...settings, business: config.business.schema.parse({}) };
    expect(scorePost({ ...post, text: 'uptime' }, none, now).keyword_relevance).toBe(0);
  });

  it.each([
    [0, 0],
    [50, 3.75],
    [100, 7.5],
    [1000, 15],
    [10_000, 15],
    [55_000, 9.375],
    [100_000, 3.75],
    [5_000_000, 3.75],
  ])('gives %i followers %d points', (authorFollowers, points) => {
    expect(score({ authorFollowers }).follower).toBeCloseTo(points, 6);
  });

  it.each([
    ['2026-02-25T11:55:00Z', 10],
    ['2026-02-25T11:30:00Z', 8],
    ['2026-02-25T11:00:00Z', 5],
    ['2026-02-25T06:00:00Z', 2.5],
    ['2026-02-25T05:59:00Z', 0],
    ['not a date', 0],
  ])('gives a post of %s %d points for being fresh', (createdAt, points) => {
    expect(score({ createdAt }).recency).toBeCloseTo(points, 6);
  });

  it('rewards engagement up to five percent of the followers, few replies, and plain text', () => {
    expect(score({ likes: 125 }).engagement).toBeCloseTo(7.5);
    expect(score({ likes: 9999 }).engagement).toBe(15);
    expect(score({ replies: 10 }).reply_count).toBe(7.5);
    expect(score({ replies: 20 }).reply_count).toBe(0);
    expect(score({ hasMedia: true }).content_type).toBe(0);
    expect(score({ isQuote: true }).content_type).toBe(0);
  });

  it('is the sum of its six parts, between 0 and 100, and says whether it reaches the threshold', () => {
    const counts = fc.nat({ max: 10_000_000 });
    const any = fc.record({
      text: fc.string(),
      authorFollowers: counts,
      likes: counts,
      retweets: counts,
      replies: counts,
    });
    fc.assert(
      fc.property(any, (more) => {
        const { total, meets_threshold, ...parts } = score(more);
        const sum = Object.values(parts).reduce((a, b) => a + b, 0);
        expect(total).toBeCloseTo(sum, 9);
        expect(total).toBeGreaterThanOrEqual(0);
        expect(total).toBeLessThanOrEqual(100);
        expect(meets_threshold).toBe(total >= 60);
      }),
    );
  });

  it('falls back to product keywords where no topics are configured', () => {
    const business = config.business.schema.parse({ product_keywords: ['Uptime', 'uptime'] });
    expect(keywordsOf(business)).toEqual(['uptime']);
  });
});
