import { ToolFault } from '../../../contract/faults.ts';
import type { JsonValue } from '../../../contract/json.ts';
import type { Log } from '../../../contract/ports.ts';
import type { WireRequest } from '../endpoints/build.ts';
import type { Credential, Endpoint } from '../endpoints/endpoint.ts';
import type { Backend, RateLimit, RequestOptions } from './api.ts';
import { type CredentialSource, type Signed, sign } from './credentials.ts';
import { faultOf, networkFault, resetOf } from './faults.ts';
import { type Patience, withRetries } from './retry.ts';
import { type Answer, NoAnswer, send } from './send.ts';
import type { ExchangeStore } from './store.ts';

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
  readonly patience: Patience;
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
  /** Endpoints X told us to leave alone, until when. */
  readonly #closed = new Map<string, Date>();

  constructor(ports: ExchangePorts) {
    this.#ports = ports;
  }

  async send(request: WireRequest, target: Target, options: RequestOptions = {}): Promise<Exchanged> {
    const attempt = (retries: number) => this.#once(request, target, options, retries);
    if (target.change) return this.#settle(target, options, () => attempt(0));
    return this.#settle(target, options, () =>
      withRetries(attempt, isPassing, this.#ports.patience, options.signal).catch((error: unknown) => {
        // The caller wants to see the last 5xx itself.
        if (error instanceof Passing) return error.answer;
        throw error;
      }),
    );
  }

  async #settle(target: Target, options: RequestOptions, work: () => Promise<Exchanged>): Promise<Exchanged> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      if (options.signal?.aborted) {
        throw new ToolFault('cancelled', 'The call was stopped before X answered', {
          cause: error.cause,
          effect: target.change && error.sent ? 'unknown' : 'none',
        });
      }
      throw networkFault(error.cause, { change: target.change, sent: error.sent });
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
    this.#refuseWhileClosed(target, signed);
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
    this.#noteClosed(target, signed, exchanged);
    if (answer.status >= 500 && !target.change) throw new Passing(exchanged);
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
      if (error instanceof NoAnswer) await this.#record(request, target, signed, undefined, started);
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
      method: request.method,
      auth: signed.kind,
      ok,
      items,
      costMicros,
      rateLimit: answer && rateLimitOf(answer.headers),
      at,
    });
  }

  #refuseWhileClosed(target: Target, signed: Signed): void {
    // Asking the sandbox costs nothing, and its limits can be reset at any time.
    if (this.#ports.backend === 'sandbox' || !target.endpoint) return;
    const until = this.#closed.get(`${signed.kind} ${target.endpoint.id}`);
    if (!until || until.getTime() <= this.#ports.now().getTime()) return;
    const headers = { 'x-rate-limit-reset': String(Math.ceil(until.getTime() / 1000)) };
    throw faultOf(
      { status: 429, json: undefined, headers },
      { endpoint: target.endpoint, change: target.change, now: this.#ports.now() },
    );
  }

  #noteClosed(target: Target, signed: Signed, answer: Exchanged): void {
    if (answer.status !== 429 || !target.endpoint) return;
    const until = resetOf(answer.headers, this.#ports.now());
    if (until) this.#closed.set(`${signed.kind} ${target.endpoint.id}`, until);
  }
}

/** A 5xx on a read: worth another try. */
class Passing extends Error {
  readonly answer: Exchanged;

  constructor(answer: Exchanged) {
    super(`status ${answer.status}`);
    this.answer = answer;
  }
}

const isPassing = (error: unknown): boolean => error instanceof Passing || error instanceof NoAnswer;

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
