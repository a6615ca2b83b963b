import type { FaultCode } from '../../../contract/faults.ts';

/** The documented codes of each family of tools, in the order of the reference. */
export const X_FAULTS = [
  'x_not_configured',
  'x_rate_limited',
  'x_auth_expired',
  'x_forbidden',
  'x_network_error',
  'x_api_error',
] as const satisfies readonly FaultCode[];

export const POLICY_FAULTS = [
  'policy_denied_blocked',
  'policy_denied_rate_limited',
  'policy_denied_hard_rule',
  'policy_denied_user_rule',
  'policy_error',
] as const satisfies readonly FaultCode[];

export const ENGAGE_FAULTS = [
  ...X_FAULTS,
  'scraper_mutation_blocked',
  ...POLICY_FAULTS,
] as const satisfies readonly FaultCode[];

export const POST_FAULTS = [
  ...X_FAULTS,
  'tweet_too_long',
  'validation_error',
  'scraper_mutation_blocked',
  ...POLICY_FAULTS,
] as const satisfies readonly FaultCode[];
