import { ToolFault } from '../../../contract/faults.ts';
import { missingFrom, wantedScopes } from '../auth/scopes.ts';
import type { AccessInfo, RequestOptions, Tier, XApi } from './api.ts';
import type { CredentialSource } from './credentials.ts';

/** What the sandbox allows: everything. */
export const sandboxAccess = (): AccessInfo => ({
  tier: 'Sandbox',
  can_reply: true,
  can_post: true,
  can_search: true,
  can_read_mentions: true,
  can_use_ads: true,
  can_use_app_only: true,
  granted_scopes: wantedScopes(),
  missing_scopes: [],
  token_expires_at: undefined,
});

/** Finds out once what the plan allows; X has no endpoint that says it. */
export function accessOf(
  source: CredentialSource,
): (api: XApi, options: RequestOptions) => Promise<AccessInfo> {
  let tier: Tier | undefined;
  return async (api, options) => {
    const user = await source.user(options.signal);
    const granted = user?.scopes ?? [];
    if (user && tier === undefined) tier = await probe(api, options);
    const has = (...scopes: string[]) => scopes.every((scope) => granted.includes(scope));
    const canWrite = has('tweet.read', 'tweet.write', 'users.read');
    const canRead = has('tweet.read', 'users.read') && tier !== 'Free';
    return {
      tier: tier ?? 'Unknown',
      can_reply: canWrite,
      can_post: canWrite,
      can_search: canRead,
      can_read_mentions: canRead,
      can_use_ads: source.ads() !== undefined,
      can_use_app_only: (await source.app(options.signal)) !== undefined,
      granted_scopes: granted,
      missing_scopes: user ? missingFrom(granted) : wantedScopes(),
      token_expires_at: user?.expires_at,
    };
  };
}

/** A search that finds nothing costs nothing, and plans without search refuse it. */
async function probe(api: XApi, options: RequestOptions): Promise<Tier | undefined> {
  try {
    const { username } = await api.me(options);
    await api.request(
      'search_recent',
      { query: `from:${username} "countersign plan probe"`, max_results: 10 },
      options,
    );
    return 'Basic';
  } catch (error) {
    if (!(error instanceof ToolFault)) throw error;
    if (error.code === 'x_rate_limited') return 'Basic';
    if (error.code === 'x_forbidden') return 'Free';
    return undefined;
  }
}
