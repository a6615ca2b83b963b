import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { Principal } from '../contract/principal.ts';
import { isObject } from '../lib/is-object.ts';
import type { Served } from './served.ts';

const boards = new WeakMap<Served, Subscriptions>();

/** One board for all connections of a process. */
export function subscriptionsOf(served: Served): Subscriptions {
  const known = boards.get(served) ?? new Subscriptions(served);
  boards.set(served, known);
  return known;
}

interface Holder {
  readonly principal: Principal;
  readonly transport: string;
}

/** Which connection follows which resource of a third-party server. The server is notified when the last one leaves. */
export class Subscriptions {
  readonly #served: Served;
  readonly #holders = new Map<string, Map<object, Holder>>();

  constructor(served: Served) {
    this.#served = served;
  }

  has(uri: string, holder: object): boolean {
    return this.#holders.get(uri)?.has(holder) ?? false;
  }

  add(uri: string, holder: object, who: Holder): void {
    const holders = this.#holders.get(uri) ?? new Map<object, Holder>();
    this.#holders.set(uri, holders.set(holder, who));
  }

  async remove(uri: string, holder: object): Promise<void> {
    const holders = this.#holders.get(uri);
    const who = holders?.get(holder);
    if (!holders || !who) return;
    holders.delete(holder);
    if (holders.size > 0) return;
    this.#holders.delete(uri);
    await this.#request('resources/unsubscribe', uri, who);
  }

  /** The connection is gone, and with it everything it followed. */
  async drop(holder: object): Promise<void> {
    for (const uri of [...this.#holders.keys()]) await this.remove(uri, holder);
  }

  /** What a modern client listens to. Where policy refuses a resource its stream stays silent; the evidence says why. */
  async follow(uris: readonly string[], holder: object, who: Holder): Promise<void> {
    for (const uri of uris)
      if (await this.#request('resources/subscribe', uri, who)) this.add(uri, holder, who);
  }

  async #request(
    method: 'resources/subscribe' | 'resources/unsubscribe',
    uri: string,
    who: Holder,
  ): Promise<boolean> {
    try {
      const found = await this.#served.foreign?.find(method, { uri });
      return found !== undefined && (await this.#served.invoke({ ...found, ...who })).outcome.status === 'ok';
    } catch (error) {
      this.#served.log.warn('A subscription could not be changed', { method, error });
      return false;
    }
  }
}

/** The resources that a `subscriptions/listen` names; the SDK answers it without asking us. */
export function listenedResources(message: unknown): readonly string[] {
  if (!isObject(message) || message.method !== 'subscriptions/listen' || !isObject(message.params)) return [];
  const { notifications } = message.params;
  const uris = isObject(notifications) ? notifications.resourceSubscriptions : undefined;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [];
}

/** Follows what the client of one connection listens to, until it cancels or leaves. */
export function followListens(
  transport: Transport,
  served: Served,
  identify: () => Promise<Principal>,
  name: string,
): void {
  if (!served.foreign) return;
  const board = subscriptionsOf(served);
  const streams = new Map<unknown, object>();
  const look = async (message: JSONRPCMessage): Promise<void> => {
    const uris = listenedResources(message);
    if (uris.length > 0 && 'id' in message) {
      const holder = {};
      streams.set(message.id, holder);
      await board.follow(uris, holder, { principal: await identify(), transport: name });
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      const holder = streams.get(message.params?.requestId);
      if (holder) await board.drop(holder);
    }
  };
  const { onmessage, onclose } = transport;
  transport.onmessage = (message, extra) => {
    look(message).catch((error) => served.log.debug(name, { error }));
    onmessage?.(message, extra);
  };
  transport.onclose = () => {
    for (const holder of streams.values()) void board.drop(holder);
    onclose?.();
  };
}
