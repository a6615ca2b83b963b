export interface Patience {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

const RETRIES = 2;
const BASE_MS = 500;
const CAP_MS = 5_000;
const JITTER = 0.25;

/** Repeats a read that failed in passing. Never used for changes: X may have made them. */
export async function withRetries<T>(
  attempt: (retries: number) => Promise<T>,
  isPassing: (error: unknown) => boolean,
  patience: Patience,
  signal?: AbortSignal,
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt(retries);
    } catch (error) {
      if (retries >= RETRIES || signal?.aborted || !isPassing(error)) throw error;
      const wait = Math.min(BASE_MS * 2 ** retries, CAP_MS);
      await patience.sleep(wait * (1 + JITTER * patience.random()), signal);
    }
  }
}

/** Waits, or fails with the signal's reason. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
