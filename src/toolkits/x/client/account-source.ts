import { z } from 'zod';
import { exchangeAppToken, type OAuthApp, refreshTokens } from '../auth/token-endpoint.ts';
import { TokenFile } from '../auth/token-file.ts';
import { UserTokens } from '../auth/user-tokens.ts';
import type { OAuth1Keys } from '../endpoints/oauth1.ts';
import type { CredentialSource } from './credentials.ts';
import type { ConnectOptions, XApiSettings } from './options.ts';
import { sleep } from './retry.ts';

const X_ORIGIN = 'https://api.x.com';

/** Credentials of the signed-in account: the token file, and the keys of the configuration. */
export function accountSource(options: ConnectOptions): CredentialSource {
  const { settings, now } = options;
  const file = new TokenFile(options.dataDir);
  const app = (clientId: string): OAuthApp => ({
    clientId,
    ...(settings.client_secret ? { clientSecret: settings.client_secret } : {}),
    origin: settings.api_base_url ?? X_ORIGIN,
    now,
  });
  const tokens = new UserTokens({
    file,
    leases: options.leases,
    // The refresh token belongs to the app that signed in, whatever the configuration says today.
    refresh: (stale, signal) => refreshTokens(app(stale.client_id), stale, signal),
    now,
    sleep: options.sleep ?? sleep,
  });
  let appToken: string | undefined = settings.bearer_token;
  return {
    user: (signal) => tokens.current(signal),
    async replace(refused, signal) {
      const known = await file.read();
      return known ? tokens.replace({ ...known, access_token: refused.access_token }, signal) : undefined;
    },
    async app(signal) {
      if (!appToken && settings.consumer_key && settings.consumer_secret) {
        appToken = await exchangeAppToken(
          {
            key: settings.consumer_key,
            secret: settings.consumer_secret,
            origin: settings.api_base_url ?? X_ORIGIN,
            now,
          },
          signal,
        );
      }
      return appToken;
    },
    ads: () => adsKeys(settings),
    now,
  };
}

function adsKeys(settings: XApiSettings): OAuth1Keys | undefined {
  const { consumer_key, consumer_secret, access_token, access_token_secret } = settings;
  if (!consumer_key || !consumer_secret || !access_token || !access_token_secret) return undefined;
  return {
    consumerKey: consumer_key,
    consumerSecret: consumer_secret,
    token: access_token,
    tokenSecret: access_token_secret,
  };
}

const sandboxKeys = z.object({
  user_token: z.string(),
  app_token: z.string(),
  consumer_key: z.string(),
  consumer_secret: z.string(),
  access_token: z.string(),
  access_token_secret: z.string(),
  scopes: z.string(),
});

/** The sandbox hands out credentials that open nothing but itself. */
export function sandboxSource(
  credentials: Readonly<Record<string, string>>,
  now: () => Date,
): CredentialSource {
  const keys = sandboxKeys.parse(credentials);
  return {
    user: async () => ({
      access_token: keys.user_token,
      scopes: keys.scopes.split(' '),
      authorized_at: 'sandbox',
    }),
    replace: async () => undefined,
    app: async () => keys.app_token,
    ads: () => adsKeys(keys),
    now,
  };
}
