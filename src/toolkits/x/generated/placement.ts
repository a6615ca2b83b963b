import { CHANGE_PROFILES, PROFILES, type Profile } from '../../../contract/profile.ts';
import type { Requirements } from '../../../contract/tool.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { GeneratedId } from '../endpoints/ids.ts';

const CATEGORIES: readonly (readonly [RegExp, string])[] = [
  [/^x_ads_/, 'ads'],
  [/^x_v2_(compliance|usage|stream)_/, 'compliance'],
  [/^x_v2_dm_/, 'direct_message'],
  [/^x_v2_lists_/, 'list'],
  [/^x_v2_(mutes|blocks)_|_(un)?hide_reply$/, 'moderation'],
  [/_(un)?pin_tweet$/, 'engage'],
];

export const categoryOf = (id: GeneratedId): string =>
  CATEGORIES.find(([pattern]) => pattern.test(id))?.[1] ?? 'read';

const isAdminOnly = (id: GeneratedId): boolean => ['ads', 'compliance'].includes(categoryOf(id));

export function profilesOf(id: GeneratedId, endpoint: Endpoint): readonly Profile[] {
  if (isAdminOnly(id)) return ['admin'];
  if (endpoint.effect !== 'read') return CHANGE_PROFILES;
  // The one table-driven read among the core reads of the smallest profile.
  return id === 'x_v2_tweets_lookup' ? PROFILES : ['api-readonly', 'write', 'admin'];
}

/** Scopes the documents name beside those X asks for; X has no such scopes for the Ads API and for app-only tokens. */
const DOCUMENTED_SCOPES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^x_ads_/, ['ads.read']],
  [/^x_v2_compliance_/, ['compliance.write']],
  [/^x_v2_usage_/, ['usage.read']],
  [/^x_v2_stream_/, ['tweet.read']],
  [/^x_v2_dm_/, ['dm.read']],
  [/^x_v2_tweets_counts_recent$/, ['tweet.read']],
];

export function requirementsOf(id: GeneratedId, endpoint: Endpoint): Requirements {
  const change = endpoint.effect !== 'read';
  const documented = DOCUMENTED_SCOPES.filter(([pattern]) => pattern.test(id)).flatMap(
    ([, scopes]) => scopes,
  );
  const adsWrite = change && id.startsWith('x_ads_') ? ['ads.write'] : [];
  return {
    xClient: true,
    userAuth: !endpoint.credentials.every((kind) => kind === 'app'),
    scopes: [...new Set([...endpoint.scopes, ...documented, ...adsWrite])].sort(),
    ...(isAdminOnly(id) ? { elevatedAccess: true } : {}),
    ...(isAdminOnly(id) && change ? { db: true } : {}),
  };
}
