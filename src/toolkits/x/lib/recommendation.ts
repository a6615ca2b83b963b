import type { AuthorHistory } from './author-history.ts';
import { containsPhrase, wordsOf } from './post-text.ts';

export interface RecommendationInput {
  readonly text: string;
  readonly keywords: readonly string[];
  readonly history: AuthorHistory;
  readonly maxPerAuthor: number;
  readonly repliesToday: number;
  readonly maxReplies: number;
  readonly objective?: string;
  /** Why a reply is out of the question, if it is. */
  readonly blocked?: string;
}

export interface Recommendation {
  readonly action: 'reply' | 'observe' | 'skip';
  readonly score: number;
  readonly confidence: number;
  readonly factors: readonly {
    readonly factor: string;
    readonly weight: number;
    readonly score: number;
    readonly reason: string;
  }[];
}

/** A weighted mean of five factors; deterministic, so that the same post always gets the same advice. */
export function recommend(input: RecommendationInput): Recommendation {
  const factors = [
    keywordFactor(input),
    relationshipFactor(input),
    frequencyFactor(input),
    capacityFactor(input),
    campaignFactor(input),
  ];
  const score = factors.reduce((sum, factor) => sum + factor.weight * factor.score, 0) / 100;
  if (input.blocked) return { action: 'skip', score, confidence: 0.95, factors };
  const action = score >= 65 ? 'reply' : score >= 40 ? 'observe' : 'skip';
  // The further from the nearest border, the surer.
  const distance = Math.min(Math.abs(score - 65), Math.abs(score - 40));
  return { action, score, confidence: Math.min(0.95, 0.5 + distance / 50), factors };
}

function keywordFactor({ text, keywords }: RecommendationInput) {
  const lower = text.toLowerCase();
  const matched = keywords.filter((keyword) => lower.includes(keyword));
  const score = matched.length === 0 ? 10 : Math.min(100, 30 * matched.length);
  const reason = matched.length === 0 ? 'no keyword matches' : `matches ${matched.join(', ')}`;
  return { factor: 'keyword_relevance', weight: 30, score, reason };
}

function relationshipFactor({ history }: RecommendationInput) {
  const { replies_sent, response_rate } = history;
  const rate = response_rate ?? 0;
  const score = replies_sent === 0 ? 50 : rate > 0.2 ? 90 : rate > 0 ? 60 : 30;
  const reason = replies_sent === 0 ? 'a new author' : `answers ${Math.round(rate * 100)} % of replies`;
  return { factor: 'relationship', weight: 20, score, reason };
}

function frequencyFactor({ history, maxPerAuthor }: RecommendationInput) {
  const today = history.replies_today;
  const score = today >= maxPerAuthor ? 0 : today > 0 ? 40 : 100;
  return {
    factor: 'author_frequency',
    weight: 15,
    score,
    reason: `${today} of ${maxPerAuthor} replies to them today`,
  };
}

function capacityFactor({ repliesToday, maxReplies }: RecommendationInput) {
  const score = repliesToday >= maxReplies ? 0 : repliesToday > 0.8 * maxReplies ? 30 : 100;
  return { factor: 'capacity', weight: 15, score, reason: `${repliesToday} of ${maxReplies} replies today` };
}

function campaignFactor({ text, objective }: RecommendationInput) {
  if (objective === undefined)
    return { factor: 'campaign', weight: 20, score: 50, reason: 'no objective given' };
  const wanted = [...new Set(wordsOf(objective).filter((word) => word.length > 3))];
  const shared = wanted.filter((word) => containsPhrase(text, word)).length;
  const score = shared >= 3 ? 90 : shared >= 1 ? 60 : 20;
  return { factor: 'campaign', weight: 20, score, reason: `shares ${shared} words with the objective` };
}
