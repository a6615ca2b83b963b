import type { WireRequest } from '../endpoints/build.ts';
import { inOldSpelling } from '../endpoints/field-values.ts';

/**
 * Which of the two spellings of post fields the server takes. The description's is tried first; when the first reads
 * are answered with 400 they are sent once more in the other, and the one that worked is used from then on.
 */
export class Spelling {
  #old = false;
  #confirmed = false;

  async send<T extends { readonly status: number }>(
    request: WireRequest,
    change: boolean,
    send: (request: WireRequest) => Promise<T>,
  ): Promise<T> {
    if (change || !request.query.some(([name]) => name === 'post.fields')) return send(request);
    const first = await send(spelled(request, this.#old));
    if (first.status < 300) this.#confirmed = true;
    if (first.status !== 400 || this.#confirmed) return first;
    const second = await send(spelled(request, !this.#old));
    if (second.status >= 300) return first;
    this.#old = !this.#old;
    this.#confirmed = true;
    return second;
  }
}

const spelled = (request: WireRequest, old: boolean): WireRequest =>
  old ? { ...request, query: inOldSpelling(request.query) } : request;
