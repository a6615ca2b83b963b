export type Action = 'allow' | 'ask' | 'dry_run' | 'deny';
export const ACTIONS: readonly Action[] = ['allow', 'ask', 'dry_run', 'deny'];
export const ACTION_WORDS: Readonly<Record<Action, string>> = {
  allow: 'allow',
  ask: 'ask a person',
  dry_run: 'dry run only',
  deny: 'deny',
};

export interface Schedule {
  readonly start: string;
  readonly end: string;
  readonly timezone: string;
  readonly days?: readonly string[];
}

/** A rule as `[[mcp_policy.rules]]` writes it. */
export interface Rule {
  readonly id: string;
  readonly label?: string;
  readonly enabled?: boolean;
  readonly priority?: number;
  readonly tools?: readonly string[];
  readonly categories?: readonly string[];
  readonly toolkits?: readonly string[];
  readonly effects?: readonly string[];
  readonly modes?: readonly string[];
  readonly principals?: readonly string[];
  readonly schedule?: Schedule;
  readonly when?: string;
  readonly action: Action;
  readonly reason?: string;
}

export interface Overrides {
  readonly mode?: 'autopilot' | 'composer';
  readonly template?: string;
  readonly rules: readonly Rule[];
}

export interface PolicyData {
  readonly status: {
    readonly mode?: string;
    readonly template?: string;
    readonly rules?: readonly Rule[];
    readonly [key: string]: unknown;
  };
  readonly limits: readonly {
    readonly key: string;
    readonly dimension: string;
    readonly match: string;
    readonly max: number;
    readonly used: number;
    readonly resetAt: string;
  }[];
  readonly overrides: Overrides;
  /** Rules of the configuration file. */
  readonly configured: readonly Rule[];
  readonly templates: readonly {
    readonly name: string;
    readonly doc: string;
    readonly rules: readonly string[];
  }[];
}

export interface Agent {
  readonly name: string;
  readonly created_at: string;
  readonly revoked_at: string | null;
}
