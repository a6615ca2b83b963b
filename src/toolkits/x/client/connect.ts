import { z } from 'zod';
import { lookup } from '../../../lib/lookup.ts';
import { exchangeAppToken, type OAuthApp, refreshTokens } from '../auth/token-endpoint.ts';
import { TokenFile, UserTokens } from '../auth/user-tokens.ts';
import { ADS_HOST, API_HOST } from '../endpoints/endpoint.ts';
import type { OAuth1Keys } from '../endpoints/oauth1.ts';
import { withDbErrors, XError } from '../errors.ts';
import { type Backend, type ConnectOptions, SANDBOX, X_API, type XApi, type XApiSettings } from './api.ts';
import { accessOf, type CredentialSource, sandboxAccess } from './credentials.ts';
import { type Line, sleep } from './exchange.ts';
import { HttpXApi } from './http-api.ts';
import { ExchangeStore, warnLost } from './store.ts';

const X_ORIGIN = 'https://api.x.com';

/** Credentials of the signed-in account: the token file, and the keys of the configuration. */
function accountSource(options: ConnectOptions): CredentialSource {
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
    // The refresh token belongs to the app that signed in, regardless of today's configuration.
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
function sandboxSource(credentials: Readonly<Record<string, string>>, now: () => Date): CredentialSource {
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

const DEFAULT_TIMEOUT_S = 30;

/** The sandbox is only ever a choice made before anyone signed in, never what we fall back to. */
export async function pickBackend(options: Pick<ConnectOptions, 'settings' | 'dataDir'>): Promise<Backend> {
  const { provider_backend } = options.settings;
  if (provider_backend) return provider_backend;
  return (await new TokenFile(options.dataDir).read()) ? 'x_api' : 'sandbox';
}

/** Opens the way to X. Nothing is sent and no sandbox starts before the first request. */
export async function connectX(options: ConnectOptions): Promise<XApi> {
  const backend = await pickBackend(options);
  if (backend === 'scraper') {
    const { ScraperApi } = await import('./scraper-api.ts');
    return new ScraperApi(options);
  }
  const ports = {
    backend,
    store: withDbErrors(new ExchangeStore(options.db, backend, warnLost(options.log))),
    timing: { sleep: options.sleep ?? sleep, random: options.random ?? Math.random },
    log: options.log,
    timeoutMs: (options.settings.request_timeout_seconds ?? DEFAULT_TIMEOUT_S) * 1000,
    now: options.now,
  };
  return backend === 'sandbox' ? onSandbox(options, ports) : onX(options, ports);
}

type Shared = Omit<
  ConstructorParameters<typeof HttpXApi>[0],
  'provider' | 'line' | 'access' | 'signedIn' | 'close'
>;

function onX(options: ConnectOptions, ports: Shared): XApi {
  const source = accountSource(options);
  const origins: Readonly<Record<string, string | undefined>> = {
    [API_HOST]: options.settings.api_base_url,
    [ADS_HOST]: options.settings.ads_base_url,
  };
  const line: Line = {
    source,
    originOf: (host) => lookup(origins, host) ?? `https://${host}`,
    headersOf: () => ({}),
  };
  return new HttpXApi({
    ...ports,
    provider: X_API,
    line: async () => line,
    access: accessOf(source),
    signedIn: async () => (await new TokenFile(options.dataDir).read()) !== undefined,
    close: async () => {},
  });
}

function onSandbox(options: ConnectOptions, ports: Shared): XApi {
  let opening: Promise<{ line: Line; close(): Promise<void> }> | undefined;
  const open = async () => {
    if (!options.sandbox) {
      throw new XError(
        'x_not_configured',
        'No X account is signed in and the sandbox is not available here; run `countersign auth x`',
      );
    }
    const running = await options.sandbox();
    const line: Line = {
      source: sandboxSource(running.credentials, options.now),
      originOf: () => running.url,
      headersOf: (host) => ({ 'x-sandbox-host': host }),
    };
    return { line, close: () => running.close() };
  };
  return new HttpXApi({
    ...ports,
    provider: SANDBOX,
    line: async () => {
      opening ??= open();
      // A start that failed must not be remembered for ever.
      opening.catch(() => {
        opening = undefined;
      });
      return (await opening).line;
    },
    access: async () => sandboxAccess(),
    signedIn: async () => true,
    close: async () => {
      await (await opening)?.close();
    },
  });
}
