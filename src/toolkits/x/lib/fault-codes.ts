import type { FaultCode } from '../../../contract/faults.ts';

/**
 * The documented codes of each family of tools, in the order of the reference. Every tool may besides answer
 * `invalid_input`, `db_error`, `policy_error`, `policy_denied_user_rule` and `serialization_error`: they come from the
 * kernel. They are declared only where the reference names them.
 */
export const X_FAULTS = [
  'x_not_configured',
  'x_rate_limited',
  'x_auth_expired',
  'x_forbidden',
  'x_account_restricted',
  'x_network_error',
  'x_api_error',
  'not_found',
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

/** Approving executes what was queued, so its failure is the failure of the approval. */
export const APPROVE_FAULTS = [
  ...ENGAGE_FAULTS,
  'db_error',
  'validation_error',
] as const satisfies readonly FaultCode[];
