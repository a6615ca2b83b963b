import type { McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client';
import { ToolError } from '../contract/errors.ts';
import { type Connection, RAW } from './connection.ts';

/** Resources that clients of this process follow at one server. They survive a restart of the server. */
export class Subscriptions {
  readonly #uris = new Set<string>();
  #stream: McpSubscription | undefined;

  get size(): number {
    return this.#uris.size;
  }

  async add(uri: string, connection: Connection, server: string): Promise<void> {
    if (connection.client.getServerCapabilities()?.resources?.subscribe !== true)
      throw new ToolError('server_error', `The server ${server} does not offer subscriptions.`);
    if (this.#uris.has(uri)) return;
    this.#uris.add(uri);
    try {
      await this.#change('resources/subscribe', uri, connection);
    } catch (error) {
      this.#uris.delete(uri);
      throw error;
    }
  }

  async remove(uri: string, connection: Connection | undefined): Promise<void> {
    if (this.#uris.delete(uri) && connection) await this.#change('resources/unsubscribe', uri, connection);
  }

  /** On a new connection the server knows of none of them. */
  async restore(connection: Connection): Promise<void> {
    this.#stream = undefined;
    if (connection.era.kind === 'modern') return this.listen(connection);
    for (const uri of this.#uris) await this.#change('resources/subscribe', uri, connection);
  }

  /** A modern server says nothing unasked: one stream carries changes of its lists and of these resources. */
  async listen({ client }: Connection): Promise<void> {
    const can = client.getServerCapabilities() ?? {};
    const filter: SubscriptionFilter = {
      ...(can.tools?.listChanged ? { toolsListChanged: true } : {}),
      ...(can.prompts?.listChanged ? { promptsListChanged: true } : {}),
      ...(can.resources?.listChanged ? { resourcesListChanged: true } : {}),
      ...(this.#uris.size > 0 ? { resourceSubscriptions: [...this.#uris] } : {}),
    };
    const before = this.#stream;
    // A server that cannot be listened to is listed again at its next start.
    if (Object.keys(filter).length > 0) this.#stream = await client.listen(filter).catch(() => undefined);
    // The new stream is open before the old one ends, so nothing is missed between them.
    await before?.close().catch(() => {});
  }

  async #change(method: string, uri: string, connection: Connection): Promise<void> {
    if (connection.era.kind === 'modern') return this.listen(connection);
    await connection.client.request({ method, params: { uri } }, RAW);
  }
}
