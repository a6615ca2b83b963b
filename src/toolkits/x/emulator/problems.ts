import type { JsonDoc } from './documents.ts';
import type { StatePort } from './stored-state.ts';

const TYPES = 'https://api.x.com/2/problems';

/** An answer that is an error, in X's own shapes. */
export class Problem extends Error {
  readonly status: number;
  readonly body: JsonDoc;

  constructor(status: number, body: JsonDoc) {
    super(`problem ${status}`);
    this.status = status;
    this.body = body;
  }
}

const plain = (status: number, title: string, detail: string = title): Problem =>
  new Problem(status, { title, detail, type: 'about:blank', status });

export const unauthorized = (): Problem => plain(401, 'Unauthorized');
export const forbidden = (detail = 'Forbidden'): Problem => plain(403, 'Forbidden', detail);
export const notFound = (): Problem => plain(404, 'Not Found');
export const tooManyRequests = (): Problem => plain(429, 'Too Many Requests');
export const unavailable = (): Problem => plain(503, 'Service Unavailable');
export const serverError = (): Problem => plain(500, 'Internal Server Error');

export const duplicateContent = (): Problem =>
  forbidden('You are not allowed to create a Tweet with duplicate content.');

export const suspended = (): Problem =>
  new Problem(403, {
    errors: [{ code: 64, message: 'Your account is suspended and is not permitted to access this feature.' }],
  });

export const usageCapped = (): Problem =>
  new Problem(429, {
    title: 'UsageCapExceeded',
    detail: 'Usage cap exceeded: Monthly product cap',
    type: `${TYPES}/usage-capped`,
    period: 'Monthly',
    scope: 'Product',
  });

export const wrongAuthentication = (used: string, supported: readonly string[]): Problem =>
  new Problem(403, {
    title: 'Unsupported Authentication',
    detail: `Authenticating with ${used} is forbidden for this endpoint.  Supported authentication types are [${supported.join(', ')}].`,
    type: `${TYPES}/unsupported-authentication`,
    status: 403,
  });

export const missingScope = (scopes: readonly string[]): Problem =>
  new Problem(403, {
    title: 'Forbidden',
    detail: `Your token is missing the scope ${scopes.join(', ')} for this request.`,
    type: `${TYPES}/client-forbidden`,
    status: 403,
  });

export const invalidRequest = (
  faults: readonly { readonly name: string; readonly value: string; readonly message: string }[],
): Problem =>
  new Problem(400, {
    errors: faults.map(({ name, value, message }) => ({ parameters: { [name]: [value] }, message })),
    title: 'Invalid Request',
    detail: 'One or more parameters to your request was invalid.',
    type: `${TYPES}/invalid-request`,
  });

export const notYou = (name: string, value: string, own: string): Problem =>
  invalidRequest([
    {
      name,
      value,
      message: `The \`${name}\` query parameter value [${value}] must be the same as the authenticating user [${own}]`,
    },
  ]);

/** X says 200 and puts this in `errors` when it was asked for something that is not there. */
export const missingResource = (resource: string, parameter: string, value: string): JsonDoc => ({
  value,
  detail: `Could not find ${resource} with ${parameter}: [${value}].`,
  title: 'Not Found Error',
  resource_type: resource,
  parameter,
  resource_id: value,
  type: `${TYPES}/resource-not-found`,
});

/** Changes to what is not there are refused outright. */
export const noSuchResource = (resource: string, parameter: string, value: string): Problem =>
  new Problem(404, {
    errors: [missingResource(resource, parameter, value)],
    title: 'Not Found Error',
    type: `${TYPES}/resource-not-found`,
    status: 404,
  });

export const adsProblem = (status: number, code: string, message: string): Problem =>
  new Problem(status, { errors: [{ code, message }], request: { params: {} } });

interface Window {
  /** What the store knew last, all processes together. */
  known: number;
  /** Counted here since. */
  fresh: number;
}

export interface Hit {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds since 1970. */
  readonly reset: number;
  readonly over: boolean;
}

const FLUSH_MS = 500;

/** Rate-limit windows. Counted in memory and shared in groups: a read must not cost a write to disk. */
export class Windows {
  readonly #port: StatePort;
  readonly #windows = new Map<string, Window>();
  #timer: NodeJS.Timeout | undefined;

  constructor(port: StatePort) {
    this.#port = port;
  }

  async hit(key: string, limit: { readonly max: number; readonly seconds: number }, now: Date): Promise<Hit> {
    const start = Math.floor(now.getTime() / 1000 / limit.seconds) * limit.seconds;
    const name = `${start} ${key}`;
    let window = this.#windows.get(name);
    if (!window) {
      window = { known: await this.#port.count(key, start, 0), fresh: 0 };
      // Two requests may have asked simultaneously; the first answer stays.
      window = this.#windows.get(name) ?? window;
      this.#windows.set(name, window);
    }
    window.fresh += 1;
    this.#timer ??= setTimeout(() => void this.flush().catch(() => undefined), FLUSH_MS).unref();
    const used = window.known + window.fresh;
    return {
      limit: limit.max,
      remaining: Math.max(0, limit.max - used),
      reset: start + limit.seconds,
      over: used > limit.max,
    };
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [name, window] of this.#windows) {
      if (window.fresh === 0) continue;
      const cut = name.indexOf(' ');
      const by = window.fresh;
      window.known += by;
      window.fresh = 0;
      window.known = Math.max(
        window.known,
        await this.#port.count(name.slice(cut + 1), Number(name.slice(0, cut)), by),
      );
    }
  }

  forget(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#windows.clear();
  }
}
