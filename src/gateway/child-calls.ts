import {
  Client,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCResultResponse,
  ProtocolError,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '../contract/json.ts';
import { isObject } from '../lib/is-object.ts';
import type { ChildTransport } from './child.ts';

/** Far above what the SDK counts up to, and still a number that fits 32 bits. */
const FIRST_ID = 1_000_000_000;

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { progress: number; total?: number; message?: string }) => void;
}

interface Pending extends CallOptions {
  settle(response: JSONRPCResultResponse | JSONRPCErrorResponse | Error): void;
}

/** The SDK's client, which also gives the fields that the agreed protocol generation wants in every request. */
export class GatewayClient extends Client {
  get envelope(): JsonObject | undefined {
    return this._outboundMetaEnvelope() as JsonObject | undefined;
  }
}

/**
 * Tool calls to a child process, past the SDK's client: that one parses each message with several schemas, and the result
 * again, although the result is passed on as it is. Everything else a server says is left to the SDK.
 */
export class ChildCalls {
  readonly #transport: ChildTransport;
  readonly #envelope: JsonObject | undefined;
  readonly #isModern: boolean;
  readonly #pending = new Map<number, Pending>();
  #next = FIRST_ID;

  constructor(transport: ChildTransport, client: GatewayClient) {
    this.#transport = transport;
    this.#envelope = client.envelope;
    this.#isModern = client.getProtocolEra() === 'modern';
  }

  async call(params: JsonObject, options: CallOptions): Promise<JsonObject> {
    const { signal, onProgress } = options;
    signal?.throwIfAborted();
    const id = this.#next++;
    const meta = {
      ...(params._meta as JsonObject | undefined),
      ...(onProgress ? { progressToken: id } : {}),
    };
    const message = {
      jsonrpc: '2.0' as const,
      id,
      method: 'tools/call',
      params: this.#enveloped(params, meta),
    };
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        settle(new SdkError(SdkErrorCode.RequestTimeout, String(signal?.reason)));
        this.#notifyCancelled(id, String(signal?.reason));
      };
      const settle: Pending['settle'] = (response) => {
        this.#pending.delete(id);
        signal?.removeEventListener('abort', cancel);
        if (response instanceof Error) reject(response);
        else if ('error' in response) {
          const { code, message: text, data } = response.error;
          reject(ProtocolError.fromError(code, text, data));
        } else {
          const result = this.#read(response.result as JsonObject);
          if (result instanceof Error) reject(result);
          else resolve(result);
        }
      };
      this.#pending.set(id, { onProgress, settle });
      signal?.addEventListener('abort', cancel, { once: true });
      this.#transport.send(message).catch(settle);
    });
  }

  /** True when the message belonged to one of these calls. */
  take(message: JSONRPCMessage): boolean {
    if (!('method' in message)) {
      // Some servers answer with the number as text.
      const pending = this.#pending.get(Number(message.id));
      pending?.settle(message);
      return pending !== undefined;
    }
    if (message.method !== 'notifications/progress') return false;
    const { progressToken, progress, total, message: text } = (message.params ?? {}) as JsonObject;
    const pending = this.#pending.get(Number(progressToken));
    if (typeof progress !== 'number') return false;
    pending?.onProgress?.({
      progress,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof text === 'string' ? { message: text } : {}),
    });
    return pending !== undefined;
  }

  /** The connection ended: nothing is known of the calls under way but that no answer came. */
  close(): void {
    const error = new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed');
    for (const { settle } of [...this.#pending.values()]) settle(error);
  }

  #enveloped(params: JsonObject, meta: JsonObject): JsonObject {
    const all = { ...this.#envelope, ...meta };
    return Object.keys(all).length === 0 ? params : { ...params, _meta: all };
  }

  #notifyCancelled(requestId: number, reason: string): void {
    const params = this.#enveloped({ requestId, reason }, {});
    this.#transport
      .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params } as JSONRPCMessage)
      .catch(() => {});
  }

  /** The server's result without the field that only says what kind it is; a task or a question keeps it. */
  #read(raw: JsonObject): JsonObject | Error {
    const { resultType: type, ...result } = raw;
    const isComplete = type === undefined || type === 'complete';
    if (isComplete && Array.isArray(result.content)) return result;
    if (type === 'task') return raw;
    // A server of 2025 knows no kinds: the field is its own, and says nothing.
    if (!this.#isModern) return result;
    const asks = isObject(raw.inputRequests) && Object.keys(raw.inputRequests).length > 0;
    if (type === 'input_required' && (asks || typeof raw.requestState === 'string')) return toQuestion(raw);
    return new SdkError(SdkErrorCode.InvalidResult, 'Invalid result for tools/call');
  }
}

const toQuestion = ({ inputRequests, requestState, _meta: meta }: JsonObject): JsonObject => ({
  resultType: 'input_required',
  inputRequests: isObject(inputRequests) ? (inputRequests as JsonObject) : {},
  ...(typeof requestState === 'string' ? { requestState } : {}),
  ...(meta === undefined ? {} : { _meta: meta }),
});
