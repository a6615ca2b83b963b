/**
 * Did the caller give up because it waited too long? SDK clients then cancel with a reason that says so: an error
 * named TimeoutError, the protocol's code for it, or words. Anything else is a wish to stop.
 */
export function isTimeoutReason(reason: unknown, depth = 0): boolean {
  if (typeof reason === 'string') return /time[- ]?out|timed[- ]?out/i.test(reason);
  if (typeof reason !== 'object' || reason === null || depth > 3) return false;
  if ('name' in reason && reason.name === 'TimeoutError') return true;
  if ('code' in reason && (reason.code === REQUEST_TIMEOUT || reason.code === 'ETIMEDOUT')) return true;
  if ('message' in reason && isTimeoutReason(reason.message)) return true;
  if ('reason' in reason && isTimeoutReason(reason.reason, depth + 1)) return true;
  return 'cause' in reason && isTimeoutReason(reason.cause, depth + 1);
}

/** JSON-RPC code that MCP SDKs use for a request that timed out. */
const REQUEST_TIMEOUT = -32001;
