import { ToolError } from '../../../contract/errors.ts';
import { missingFrom, wantedScopes } from '../auth/sign-in.ts';
import type { WireRequest } from '../endpoints/build.ts';
import { ADS_HOST, type Credential, type Endpoint } from '../endpoints/endpoint.ts';
import { freshNonce, type OAuth1Keys, signOAuth1 } from '../endpoints/oauth1.ts';
import { XError } from '../errors.ts';
import type { AccessInfo, RequestOptions, Tier, XApi } from './api.ts';
import { missingScopes } from './errors.ts';

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
    if (!(error instanceof ToolError)) throw error;
    if (error.code === 'x_rate_limited') return 'Basic';
    if (error.code === 'x_forbidden') return 'Free';
    return undefined;
  }
}

export interface UserToken {
  readonly access_token: string;
  readonly scopes: readonly string[];
  readonly expires_at?: string;
  /** Changes when another account signs in, not when the token is refreshed. */
  readonly authorized_at: string;
}

/** Where credentials come from: the token file and the configuration, or the sandbox. */
export interface CredentialSource {
  user(signal?: AbortSignal): Promise<UserToken | undefined>;
  /** A better user token than the one X just refused, if there is one. */
  replace(refused: UserToken, signal?: AbortSignal): Promise<UserToken | undefined>;
  app(signal?: AbortSignal): Promise<string | undefined>;
  ads(): OAuth1Keys | undefined;
  now(): Date;
}

export interface Signed {
  readonly kind: Credential;
  readonly headers: Readonly<Record<string, string>>;
  readonly user?: UserToken;
}

const HOW_TO_GET: Readonly<Record<Credential, string>> = {
  user: 'run `countersign auth x`',
  app: 'set x_api.bearer_token, the app-only bearer token of your X app',
  ads: 'set x_api.consumer_key, consumer_secret, access_token and access_token_secret of an app with Ads API access',
};

/** Signs with the first credential the endpoint takes and we have. */
export async function sign(
  source: CredentialSource,
  request: WireRequest,
  target: { readonly kinds: readonly Credential[]; readonly endpoint?: Endpoint },
  signal?: AbortSignal,
): Promise<Signed> {
  let lacking: string[] = [];
  for (const kind of target.kinds) {
    if (kind === 'user') {
      const user = await source.user(signal);
      if (!user) continue;
      const missing = missingScopes({ endpoint: target.endpoint, granted: user.scopes });
      if (missing.length === 0) return bearer('user', user.access_token, user);
      lacking = missing;
    } else if (kind === 'app') {
      const token = await source.app(signal);
      if (token) return bearer('app', token);
    } else {
      const keys = source.ads();
      if (keys) return { kind, headers: { authorization: signAds(request, keys, source.now()) } };
    }
  }
  if (lacking.length > 0) {
    throw new XError(
      'x_forbidden',
      `The X sign-in lacks the scope ${lacking.join(', ')}; run \`countersign auth x\` and allow it`,
      {
        detail: { missing_scopes: lacking },
      },
    );
  }
  throw new XError(
    'x_not_configured',
    `No credentials for this request: ${target.kinds.map((kind) => HOW_TO_GET[kind]).join(', or ')}`,
  );
}

const bearer = (kind: Credential, token: string, user?: UserToken): Signed => ({
  kind,
  headers: { authorization: `Bearer ${token}` },
  ...(user ? { user } : {}),
});

/** Signed for the real host even when the sandbox answers: it checks the signature as X would. */
function signAds(request: WireRequest, keys: OAuth1Keys, now: Date): string {
  const form = request.body.type === 'form' ? request.body.pairs : [];
  return signOAuth1(
    {
      method: request.method,
      url: `https://${ADS_HOST}${request.path}`,
      params: [...request.query, ...form],
    },
    keys,
    { timestamp: Math.floor(now.getTime() / 1000), nonce: freshNonce() },
  );
}
