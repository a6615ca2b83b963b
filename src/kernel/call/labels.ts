import { ToolError } from '../../contract/errors.ts';
import type { Principal } from '../../contract/principal.ts';
import { cleanLabel, cleanText } from '../../lib/label.ts';
import type { CallRequest } from './call.ts';

/** What an agent says about a call is read by a person, who reads no novels. */
const MAX_REASON = 2_000;
const MAX_RUN_ID = 100;

/**
 * The request with every name that a client chose cleaned. Called where a call enters the pipeline and nowhere else, so
 * that no transport can forget it.
 */
export function cleanRequest(request: CallRequest): CallRequest {
  const clean = {
    principal: cleanPrincipal(request.principal),
    transport: cleanLabel(request.transport),
    client: request.client === undefined ? undefined : cleanLabel(request.client),
    reason: request.reason === undefined ? undefined : cleanText(request.reason, MAX_REASON),
  };
  const { principal, transport, client, reason } = request;
  const isClean =
    clean.principal === principal &&
    clean.transport === transport &&
    clean.client === client &&
    clean.reason === reason;
  return isClean ? request : { ...request, ...clean };
}

function cleanPrincipal(principal: Principal): Principal {
  if (principal.label === undefined) return principal;
  const label = cleanLabel(principal.label);
  return label === principal.label ? principal : { ...principal, label };
}

/** Also a call whose arguments are invalid belongs to its run; its run ID was not validated. */
export const cleanRunId = (run: unknown): string | undefined =>
  typeof run === 'string' && run.length > 0 && run.length <= MAX_RUN_ID ? cleanLabel(run) : undefined;

/** A key is compared, so it is refused where a label would be cleaned: two keys must not become one. */
export function requireKey(key: string, max: number): void {
  if (key.length > max)
    throw new ToolError(
      'quota_exceeded',
      `The idempotency key has ${key.length} characters; at most ${max} are allowed (calls.max_idempotency_key_length). Nothing was done.`,
      { detail: { setting: 'calls.max_idempotency_key_length', max } },
    );
  if (key !== cleanLabel(key, key.length))
    throw new ToolError(
      'invalid_input',
      'The idempotency key contains a control character or half of a surrogate pair. Nothing was done.',
    );
}
