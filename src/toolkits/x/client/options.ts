import type { Kysely } from 'kysely';
import type { LeasePort, Log } from '../../../contract/ports.ts';
import type { RunningSandbox } from '../../../contract/sandbox.ts';
import type { XClientTables } from './tables.ts';

/** The fields of `[x_api]` the client reads. */
export interface XApiSettings {
  /** Empty: X when `auth x` has run, else the sandbox. */
  readonly provider_backend?: '' | 'x_api' | 'scraper' | 'sandbox';
  readonly client_id?: string;
  readonly client_secret?: string;
  /** App-only bearer token: compliance, usage and stream rules need it. */
  readonly bearer_token?: string;
  /** OAuth 1.0a, for ads-api.x.com. */
  readonly consumer_key?: string;
  readonly consumer_secret?: string;
  readonly access_token?: string;
  readonly access_token_secret?: string;
  readonly scraper_allow_mutations?: boolean;
  /** Cookie header of a signed-in browser, for scraper reads that X hides from guests. */
  readonly scraper_cookies?: string;
  readonly api_base_url?: string;
  readonly ads_base_url?: string;
  readonly request_timeout_seconds?: number;
}

export interface ConnectOptions {
  readonly settings: XApiSettings;
  readonly dataDir: string;
  readonly db: Kysely<XClientTables>;
  readonly leases: LeasePort;
  readonly log: Log;
  now(): Date;
  /** Starts the sandbox; called on the first request that needs it. Absent where the host offers none. */
  sandbox?(): Promise<RunningSandbox>;
  /** Tests replace waiting and chance. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random?: () => number;
  /** Tests replace the network the scraper uses. */
  readonly scraperFetch?: typeof fetch;
}
