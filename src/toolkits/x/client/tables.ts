import type { Generated } from 'kysely';

/** What the client keeps in the store; made by migration 010-x-client. */
export interface XClientTables {
  x_rate_limits: {
    endpoint: string;
    /** `user`, `app` or `ads`: X counts them apart. */
    auth: string;
    /** The backend and account they belong to, so that the sandbox never mixes with X. */
    realm: string;
    limit_max: number;
    remaining: number;
    reset_at: string;
    seen_at: string;
  };
  x_usage: {
    day: string;
    realm: string;
    endpoint: string;
    method: string;
    calls: Generated<number>;
    failures: Generated<number>;
    items: Generated<number>;
    /** Millionths of a US dollar: sums stay exact. */
    cost_micros: Generated<number>;
  };
}
