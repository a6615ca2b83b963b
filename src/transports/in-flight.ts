import { setTimeout as sleep } from 'node:timers/promises';
import type { Served } from './served.ts';

/** The reason with which work is let go when its client has ended the connection. It asks for nothing to stop. */
export class ClientLeft extends Error {
  constructor(how: string) {
    super(`The client left: ${how}.`);
    this.name = 'ClientLeft';
  }
}

/** Aborted with `ClientLeft` when an HTTP request is: its connection says that, in words that differ by version. */
export function whenDropped(request: Pick<Request, 'signal'>): AbortSignal {
  const dropped = new AbortController();
  const drop = (): void => dropped.abort(new ClientLeft('it closed the connection'));
  if (request.signal.aborted) drop();
  else request.signal.addEventListener('abort', drop, { once: true });
  return dropped.signal;
}

export interface InFlight {
  readonly served: Served;
  /**
   * Detaches long work immediately and waits for short work and for replies, at most `ms`. What is left then is told to
   * stop by closing the connection.
   */
  leave(reason: ClientLeft, answered: Promise<void>, ms: number): Promise<void>;
  /** Waits for calls that still run, at most `ms`. */
  ended(ms: number): Promise<void>;
}

/** The same session, with its running calls counted. */
export function trackCalls(served: Served): InFlight {
  const running = new Set<Promise<unknown>>();
  const left = new AbortController();
  const atMost = async (work: Promise<unknown>, ms: number): Promise<void> => {
    const stop = new AbortController();
    const late = sleep(ms, undefined, { signal: stop.signal }).catch(() => {});
    await Promise.race([work, late]);
    stop.abort();
  };
  return {
    served: {
      ...served,
      invoke(request) {
        // To any other tool the signal means stop, and short work should end on its own.
        const mayGoOn = request.bound.tool.outlivesCaller === true && request.signal;
        const call = served.invoke(
          mayGoOn ? { ...request, signal: AbortSignal.any([mayGoOn, left.signal]) } : request,
        );
        running.add(call);
        const done = (): void => void running.delete(call);
        call.then(done, done);
        return call;
      },
    },
    async leave(reason, answered, ms) {
      left.abort(reason);
      await atMost(Promise.allSettled([answered, ...running]), ms);
    },
    ended: (ms) => atMost(Promise.allSettled(running), ms),
  };
}
