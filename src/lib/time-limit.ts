export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Whether the time is over; false when the caller gave up before. */
  readonly expired: boolean;
  /** To be called when the work is over. */
  clear(): void;
}

/**
 * Fires after `ms`, or with `cancelled` if that comes first. Where `AbortSignal.any` combines a timeout with another signal,
 * Node 20 collects the timer while it is waited for, and the limit never comes; here the running timer holds the signal.
 */
export function timeLimit(ms: number, cancelled?: AbortSignal | null): TimeLimit {
  const controller = new AbortController();
  let expired = false;
  const cancel = (): void => controller.abort(cancelled?.reason);
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new DOMException(`The limit of ${ms} ms passed.`, 'TimeoutError'));
  }, ms);
  timer.unref();
  if (cancelled?.aborted) cancel();
  else cancelled?.addEventListener('abort', cancel, { once: true });
  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    clear() {
      clearTimeout(timer);
      cancelled?.removeEventListener('abort', cancel);
    },
  };
}
