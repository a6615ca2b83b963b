import { ToolError } from '../../../contract/errors.ts';
import type { JsonValue } from '../../../contract/json.ts';
import type { Log } from '../../../contract/ports.ts';
import type { WireRequest } from '../endpoints/build.ts';
import type { Credential, Endpoint } from '../endpoints/endpoint.ts';
import type { Backend, RateLimit, RequestOptions } from './api.ts';
import { type CredentialSource, type Signed, sign } from './credentials.ts';
import { networkError, resetOf, toToolError } from './errors.ts';
import { type Answer, NoResponseError, send } from './send.ts';
import type { ExchangeStore } from './store.ts';

export interface RetryTiming {
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
  isTransient: (error: unknown) => boolean,
  timing: RetryTiming,
  signal?: AbortSignal,
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt(retries);
    } catch (error) {
      if (retries >= RETRIES || signal?.aborted || !isTransient(error)) throw error;
      const wait = Math.min(BASE_MS * 2 ** retries, CAP_MS);
      await timing.sleep(wait * (1 + JITTER * timing.random()), signal);
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

/** Where requests go and what signs them. */
export interface Line {
  readonly source: CredentialSource;
  originOf(host: string): string;
  headersOf(host: string): Readonly<Record<string, string>>;
}

export interface ExchangePorts {
  readonly backend: Backend;
  /** Opens the line on first use: the sandbox starts here. */
  line(): Promise<Line>;
  readonly store: ExchangeStore;
  readonly timing: RetryTiming;
  readonly log: Log;
  readonly timeoutMs: number;
  now(): Date;
}

export interface Target {
  readonly endpoint?: Endpoint;
  readonly kinds: readonly Credential[];
  readonly change: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Exchanged extends Answer {
  readonly rateLimit: RateLimit | undefined;
  readonly retries: number;
  readonly granted: readonly string[] | undefined;
}

const USER_AGENT = 'countersign';

/** Sends signed requests, repeats reads that failed in passing, and writes down what each cost. */
export class Exchanger {
  readonly #ports: ExchangePorts;

  constructor(ports: ExchangePorts) {
    this.#ports = ports;
  }

  async send(request: WireRequest, target: Target, options: RequestOptions = {}): Promise<Exchanged> {
    const attempt = (retries: number) => this.#once(request, target, options, retries);
    if (target.change) return this.#settle(target, options, () => attempt(0));
    return this.#settle(target, options, () =>
      withRetries(attempt, isTransient, this.#ports.timing, options.signal).catch((error: unknown) => {
        // The caller wants to see the last 5xx itself.
        if (error instanceof TransientError) return error.answer;
        throw error;
      }),
    );
  }

  async #settle(target: Target, options: RequestOptions, work: () => Promise<Exchanged>): Promise<Exchanged> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error;
      if (options.signal?.aborted) {
        throw new ToolError('cancelled', 'The call was stopped before X answered', {
          cause: error.cause,
          effect: target.change && error.sent ? 'unknown' : 'none',
        });
      }
      throw networkError(error.cause, { change: target.change, sent: error.sent });
    }
  }

  async #once(
    request: WireRequest,
    target: Target,
    options: RequestOptions,
    retries: number,
  ): Promise<Exchanged> {
    const line = await this.#ports.line();
    let signed = await sign(line.source, request, target, options.signal);
    await this.#refuseWhileClosed(request, target, signed);
    let answer = await this.#transmit(line, request, target, signed, options);
    if (answer.status === 401 && signed.user) {
      const better = await line.source.replace(signed.user, options.signal);
      if (better) {
        signed = { ...signed, user: better, headers: { authorization: `Bearer ${better.access_token}` } };
        answer = await this.#transmit(line, request, target, signed, options);
      }
    }
    const exchanged = {
      ...answer,
      retries,
      rateLimit: rateLimitOf(answer.headers),
      granted: signed.user?.scopes,
    };
    this.#ports.log.debug('x answered', {
      call: options.callId,
      endpoint: target.endpoint?.id ?? 'universal',
      status: answer.status,
      retries,
    });
    if (answer.status >= 500 && !target.change) throw new TransientError(exchanged);
    return exchanged;
  }

  async #transmit(
    line: Line,
    request: WireRequest,
    target: Target,
    signed: Signed,
    options: RequestOptions,
  ): Promise<Answer> {
    const started = this.#ports.now();
    try {
      const answer = await send(request, {
        origin: line.originOf(request.host),
        headers: {
          'user-agent': USER_AGENT,
          ...target.headers,
          ...line.headersOf(request.host),
          ...signed.headers,
        },
        timeoutMs: this.#ports.timeoutMs,
        signal: options.signal,
      });
      await this.#record(request, target, signed, answer, started);
      return answer;
    } catch (error) {
      if (error instanceof NoResponseError) await this.#record(request, target, signed, undefined, started);
      throw error;
    }
  }

  async #record(
    request: WireRequest,
    target: Target,
    signed: Signed,
    answer: Answer | undefined,
    at: Date,
  ): Promise<void> {
    const ok = answer !== undefined && answer.status < 400;
    const items = ok ? countItems(answer.json ?? null) : 0;
    const price = target.endpoint?.price;
    const costMicros = ok && price ? price.micros * (price.per === 'item' ? items : 1) : 0;
    await this.#ports.store.record({
      endpoint: target.endpoint?.id ?? 'universal',
      limitKey: limitKeyOf(request, target),
      method: request.method,
      auth: signed.kind,
      ok,
      items,
      costMicros,
      rateLimit: answer && (this.#usedUpBy(answer) ?? this.#tableLimitOf(answer, target)),
      limited: answer?.status === 429,
      at,
    });
  }

  /** A 429 closes the endpoint, whichever of X's limits it was and even where only `retry-after` says until when. */
  #usedUpBy({ status, headers }: Answer): RateLimit | undefined {
    const resetAt = status === 429 ? resetOf(headers, this.#ports.now()) : undefined;
    return resetAt && { limit: rateLimitOf(headers)?.limit ?? 0, remaining: 0, resetAt };
  }

  /** Outside the table only what is used up is kept: addresses may hold any number of IDs. */
  #tableLimitOf({ headers }: Answer, { endpoint }: Target): RateLimit | undefined {
    const limit = rateLimitOf(headers);
    return endpoint || limit?.remaining === 0 ? limit : undefined;
  }

  /** A limit that any process on this store learned of holds here too. */
  async #refuseWhileClosed(request: WireRequest, target: Target, signed: Signed): Promise<void> {
    // Asking the sandbox costs nothing, and its limits can be reset at any time.
    if (this.#ports.backend === 'sandbox') return;
    const { endpoint, change } = target;
    const now = this.#ports.now();
    const key = limitKeyOf(request, target);
    const until = await this.#ports.store.closedUntil(key, signed.kind, now, change);
    if (!until) return;
    const headers = { 'x-rate-limit-reset': String(Math.ceil(until.getTime() / 1000)) };
    const context = { ...(endpoint ? { endpoint } : {}), change, now };
    throw toToolError({ status: 429, json: undefined, headers }, context);
  }
}

/** Requests outside the table are told apart by their address. */
const limitKeyOf = ({ method, path }: WireRequest, { endpoint }: Target): string =>
  endpoint?.id ?? `${method} ${path}`;

/** A 5xx on a read: worth another try. */
class TransientError extends Error {
  readonly answer: Exchanged;

  constructor(answer: Exchanged) {
    super(`status ${answer.status}`);
    this.answer = answer;
  }
}

const isTransient = (error: unknown): boolean =>
  error instanceof TransientError || error instanceof NoResponseError;

function rateLimitOf(headers: Readonly<Record<string, string>>): RateLimit | undefined {
  const limit = Number(headers['x-rate-limit-limit']);
  const remaining = Number(headers['x-rate-limit-remaining']);
  const reset = Number(headers['x-rate-limit-reset']);
  if (![limit, remaining, reset].every(Number.isFinite) || reset <= 0) return undefined;
  return { limit, remaining, resetAt: new Date(reset * 1000) };
}

function countItems(json: JsonValue): number {
  if (typeof json !== 'object' || json === null || Array.isArray(json) || json.data === undefined) return 0;
  return Array.isArray(json.data) ? json.data.length : 1;
}
