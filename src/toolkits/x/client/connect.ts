import { ToolFault } from '../../../contract/faults.ts';
import { TokenFile } from '../auth/token-file.ts';
import { ADS_HOST, API_HOST } from '../endpoints/endpoint.ts';
import { withDbFaults } from '../lib/db-faults.ts';
import { accessOf, sandboxAccess } from './access.ts';
import { accountSource, sandboxSource } from './account-source.ts';
import type { Backend, XApi } from './api.ts';
import type { Line } from './exchange.ts';
import { HttpXApi } from './http-api.ts';
import type { ConnectOptions } from './options.ts';
import { SANDBOX, X_API } from './provider-info.ts';
import { sleep } from './retry.ts';
import { ExchangeStore, warnLost } from './store.ts';

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
    store: withDbFaults(new ExchangeStore(options.db, backend, warnLost(options.log))),
    patience: { sleep: options.sleep ?? sleep, random: options.random ?? Math.random },
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
    originOf: (host) => origins[host] ?? `https://${host}`,
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
      throw new ToolFault(
        'x_not_configured',
        'No X account is signed in and this host has no sandbox; run `countersign auth x`',
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
