import { z } from 'zod';
import { configSection } from '../../contract/config.ts';

const secret = (doc: string) => z.string().min(1).optional().describe(doc).meta({ secret: true });
const words = (doc: string) => z.array(z.string().min(1)).default([]).describe(doc);
const seconds = (value: number, doc: string) => z.number().int().min(1).default(value).describe(doc);
const count = (value: number, doc: string) => z.number().int().min(1).default(value).describe(doc);
const points = (value: number, doc: string) => z.number().min(0).max(100).default(value).describe(doc);
const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 09:15');

/** Paths come from the endpoint table; one in the base would lead every request elsewhere. */
const origin = () =>
  z
    .url()
    .refine(
      (text) => !URL.canParse(text) || isOrigin(new URL(text)),
      'must be an origin such as https://api.example.com, without path, query or user',
    );

const isOrigin = ({ protocol, pathname, search, hash, username }: URL): boolean =>
  /^https?:$/.test(protocol) && pathname === '/' && search === '' && hash === '' && username === '';

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const weekday = z.enum(WEEKDAYS);

const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

export const xApi = configSection(
  'x_api',
  'How Countersign reaches X. With nothing set here and no sign-in it uses the local sandbox.',
  () =>
    z
      .object({
        client_id: z.string().min(1).optional().describe('OAuth 2.0 client ID of your X app.'),
        client_secret: secret('OAuth 2.0 client secret; only confidential apps have one.'),
        bearer_token: secret('App-only bearer token, for endpoints that take no user token.'),
        provider_backend: z
          .enum(['', 'x_api', 'scraper', 'sandbox'])
          .default('')
          .describe('x_api, scraper or sandbox. Empty: x_api once signed in, the sandbox before.'),
        scraper_allow_mutations: z
          .boolean()
          .default(false)
          .describe(
            'Allow changes through the scraper, as far as its library offers any; the current one only reads.',
          ),
        scraper_cookies: secret('Cookie header of a signed-in browser, for the scraper.'),
        consumer_key: secret('OAuth 1.0a consumer key, for the Ads API.'),
        consumer_secret: secret('OAuth 1.0a consumer secret, for the Ads API.'),
        access_token: secret('OAuth 1.0a access token, for the Ads API.'),
        access_token_secret: secret('OAuth 1.0a access token secret, for the Ads API.'),
        api_base_url: origin().optional().describe('URL of the X API v2, if not api.x.com.'),
        ads_base_url: origin().optional().describe('URL of the Ads API, if not ads-api.x.com.'),
        authorize_url: z
          .url()
          .optional()
          .describe('Page on which a person allows access, if not https://x.com/i/oauth2/authorize.'),
        request_timeout_seconds: seconds(30, 'Maximum wait for one answer from X.'),
        media_folders: z
          .array(z.string().min(1))
          .default(['~/Pictures'])
          .describe('Directories media may be uploaded from, in addition to media/ in the data directory.'),
      })
      .strict(),
);

export const auth = configSection('auth', 'How `countersign auth x` signs in.', () =>
  z
    .object({
      mode: z
        .enum(['local_callback', 'manual'])
        .default('local_callback')
        .describe('Local callback or paste.'),
      callback_host: z.string().min(1).default('127.0.0.1').describe('Host the callback listens on.'),
      callback_port: z.number().int().min(1).max(65535).default(8080).describe('Port of the callback.'),
    })
    .strict(),
);

export const business = configSection(
  'business',
  'What you do and how you sound: discovery, scoring and content generation read it.',
  () =>
    z
      .object({
        product_name: z
          .string()
          .default('')
          .describe('Name of the product; used for the product-mention ratio.'),
        product_keywords: words('Words that mark a post as relevant.'),
        product_description: z.string().default('').describe('One or two sentences on the product.'),
        product_url: z.url().optional().describe('Link to the product.'),
        target_audience: z.string().default('').describe('Who you write for.'),
        competitor_keywords: words('Names of alternatives people talk about.'),
        industry_topics: words('Topics to post about; empty: product_keywords.'),
        brand_voice: z.string().default('').describe('How posts should sound.'),
        reply_style: z.string().default('').describe('How replies should sound.'),
        content_style: z.string().default('').describe('How original posts should sound.'),
        persona_opinions: words('Opinions generated posts may express.'),
        persona_experiences: words('Experiences generated posts may refer to.'),
        content_pillars: words('Recurring themes of original posts.'),
      })
      .strict(),
);

export const scoring = configSection('scoring', 'How posts are scored for a reply, 0 to 100.', () =>
  z
    .object({
      threshold: points(60, 'Posts at or above this are worth a reply.'),
      keyword_relevance_max: points(25, 'Maximum points for matching keywords.'),
      follower_count_max: points(15, "Maximum points for the author's reach."),
      recency_max: points(10, 'Maximum points for a fresh post.'),
      engagement_rate_max: points(15, 'Maximum points for engagement per follower.'),
      reply_count_max: points(15, 'Maximum points for a post with few replies.'),
      content_type_max: points(10, 'Points for a text-only post.'),
    })
    .strict(),
);

export const limits = configSection(
  'limits',
  'Safety limits. They apply to every post, regardless of who makes it.',
  () =>
    z
      .object({
        max_replies_per_day: count(5, 'Replies per day, in the time zone of [schedule].'),
        max_tweets_per_day: count(6, 'Posts and quotes per day.'),
        max_threads_per_week: count(1, 'Threads in any seven days.'),
        min_action_delay_seconds: z
          .number()
          .int()
          .min(0)
          .default(45)
          .describe('Shortest pause between actions.'),
        max_action_delay_seconds: z
          .number()
          .int()
          .min(0)
          .default(180)
          .describe('Longest pause between actions.'),
        max_replies_per_author_per_day: count(1, 'Replies to one author per day.'),
        banned_phrases: z
          .array(z.string().min(1))
          .default(['check out', 'you should try', 'I recommend', 'link in bio'])
          .describe('A text that contains one of these is refused.'),
        product_mention_ratio: z
          .number()
          .min(0)
          .max(1)
          .default(0.2)
          .describe('Largest share of the last 20 replies that may name the product.'),
        max_batch_approve: count(25, 'Maximum approvals that one approve_all call decides.'),
      })
      .strict(),
);

export const intervals = configSection('intervals', 'How often the loops of `countersign up` run.', () =>
  z
    .object({
      mentions_check_seconds: seconds(300, 'Seconds between checks of mentions and target accounts.'),
      discovery_search_seconds: seconds(900, 'Seconds between searches.'),
      content_post_window_seconds: seconds(10_800, 'Seconds between original posts without preferred times.'),
      thread_interval_seconds: seconds(604_800, 'Seconds between threads without a preferred day.'),
      analytics_seconds: seconds(3_600, 'Seconds between analytics snapshots.'),
    })
    .strict(),
);

export const llm = configSection('llm', 'The language model for content generation.', () =>
  z
    .object({
      provider: z
        .enum(['', 'openai', 'anthropic', 'ollama', 'compatible'])
        .default('')
        .describe('openai, anthropic, ollama, or compatible for any OpenAI-compatible server.'),
      api_key: secret('Key of the provider; Ollama needs none.'),
      model: z.string().default('').describe('Model name; empty: a small current model of the provider.'),
      base_url: z
        .url()
        .optional()
        .describe("Server address; needed for compatible, else the provider's own."),
      timeout_seconds: seconds(60, 'Longest wait for one answer.'),
    })
    .strict(),
);

export const targets = configSection('targets', 'Accounts whose posts are watched and answered.', () =>
  z
    .object({
      accounts: z
        .array(z.string().regex(/^@?\w{1,15}$/, 'must be an X username'))
        .default([])
        .describe('Usernames, with or without @.'),
      max_target_replies_per_day: count(3, 'Replies per day to all target accounts together.'),
    })
    .strict(),
);

export const schedule = configSection('schedule', 'When the account is active.', () =>
  z
    .object({
      timezone: z
        .string()
        .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
        .default('UTC')
        .describe('IANA time zone of everything below and of daily limits.'),
      active_hours_start: z.number().int().min(0).max(23).default(8).describe('First active hour.'),
      active_hours_end: z
        .number()
        .int()
        .min(0)
        .max(23)
        .default(22)
        .describe('First inactive hour; may wrap past midnight.'),
      active_days: z
        .array(weekday)
        .min(1)
        .default([...WEEKDAYS])
        .describe('Active days of the week.'),
      preferred_times: z
        .union([z.literal('auto'), z.array(clockTime)])
        .default([])
        .describe('Times for original posts; "auto" is 09:15, 12:30 and 17:00.'),
      preferred_times_override: z
        .partialRecord(weekday, z.array(clockTime))
        .default({})
        .describe('Other times on some days.'),
      thread_preferred_day: weekday.optional().describe('Day of the weekly thread.'),
      thread_preferred_time: clockTime.default('10:00').describe('Time of the weekly thread.'),
    })
    .strict(),
);

export const circuitBreaker = configSection('circuit_breaker', 'Stops the loops when X keeps refusing.', () =>
  z
    .object({
      error_threshold: count(5, 'Refusals within the window that open the breaker.'),
      window_seconds: seconds(300, 'Length of the window.'),
      cooldown_seconds: seconds(600, 'How long the breaker stays open.'),
    })
    .strict(),
);

export const sections = [
  xApi,
  auth,
  business,
  scoring,
  limits,
  intervals,
  llm,
  targets,
  schedule,
  circuitBreaker,
] as const;
