import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { Settlement } from '../../../contract/outcome.ts';
import type { XApi } from '../client/api.ts';
import type { EndpointId } from '../endpoints/ids.ts';
import { ENDPOINTS } from '../endpoints/table.ts';

const MAX_PAGES = 10;
/** X's clock and ours may differ by this much. */
const CLOCK_SLACK_MS = 120_000;

/** Says whether an interrupted change happened. */
export type Reconcile = (args: JsonObject, far: FarSide) => Promise<Settlement>;

export const notDone: Settlement = { settled: 'not_done' };
export const done = (data: JsonObject): Settlement => ({ settled: 'done', data });

/** Looks at X after a call was cut off. */
export class FarSide {
  readonly #x: XApi;
  readonly #signal: AbortSignal;
  readonly #startedAt: Date;

  constructor(x: XApi, signal: AbortSignal, startedAt: Date) {
    this.#x = x;
    this.#signal = signal;
    this.#startedAt = startedAt;
  }

  /** The item, or undefined when X says it is not there. */
  async one(endpoint: EndpointId, params: JsonObject): Promise<JsonObject | undefined> {
    try {
      const { json } = await this.#x.request(endpoint, params, { signal: this.#signal });
      return asObject(asObject(json)?.data);
    } catch (error) {
      if (error instanceof ToolFault && error.code === 'not_found') return undefined;
      throw error;
    }
  }

  /** Every item of a listing, or `complete: false` when there is more than we are willing to read. */
  async all(endpoint: EndpointId, params: JsonObject): Promise<{ items: JsonObject[]; complete: boolean }> {
    const { paging } = ENDPOINTS[endpoint];
    const items: JsonObject[] = [];
    let token: JsonValue | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const next = token !== undefined && paging ? { [paging.param]: token } : {};
      const { json } = await this.#x.request(endpoint, { ...params, ...next }, { signal: this.#signal });
      const body = asObject(json) ?? {};
      if (Array.isArray(body.data))
        items.push(...body.data.map(asObject).filter((item) => item !== undefined));
      token = paging?.next === 'next_cursor' ? body.next_cursor : asObject(body.meta)?.next_token;
      if (token === undefined || token === null) return { items, complete: true };
    }
    return { items, complete: false };
  }

  /** Was it made by the interrupted call, as far as time can tell? */
  isNew(item: JsonObject): boolean {
    const at = typeof item.created_at === 'string' ? Date.parse(item.created_at) : Number.NaN;
    return at >= this.#startedAt.getTime() - CLOCK_SLACK_MS;
  }

  async ownId(): Promise<string> {
    return (await this.#x.me({ signal: this.#signal })).id;
  }
}

export const asObject = (value: JsonValue | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
