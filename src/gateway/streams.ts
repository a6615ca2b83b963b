import {
  type JSONRPCMessage,
  type RequestId,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
} from '@modelcontextprotocol/client';

/** Our code for a request whose stream ended for good without an answer. */
export const CUT_OFF = -32_098;

/** A server chooses when its streams are resumed, but neither keeps this process busy with it nor puts it off for ever. */
const SOONEST_MS = 200;
const LATEST_MS = 30_000;

export const resumeCalmly: StreamableHTTPClientTransportOptions['reconnectionScheduler'] = (
  reconnect,
  delay,
) => {
  const timer = setTimeout(reconnect, Math.min(Math.max(delay, SOONEST_MS), LATEST_MS));
  timer.unref();
  return () => clearTimeout(timer);
};

/**
 * Ends requests whose answer can no longer come. The SDK resumes a stream where the server lets it, and otherwise leaves
 * the request waiting for its deadline; a change would be indeterminate only then. Call it once the client is connected.
 */
export function endCutRequests(transport: Transport): void {
  if (transport instanceof StreamableHTTPClientTransport) watchStreams(transport);
  if (transport instanceof SSEClientTransport) closeWithStream(transport);
}

function watchStreams(transport: StreamableHTTPClientTransport): void {
  const waiting = new Map<RequestId, AbortController>();
  const send = transport.send.bind(transport);
  const deliver = transport.onmessage;
  transport.onmessage = (message) => {
    if (!('method' in message) && message.id !== undefined) waiting.delete(message.id);
    deliver?.(message);
  };
  transport.send = async (message, options) => {
    if (!Array.isArray(message)) forgetCancelled(message, waiting);
    // A subscription is reported its end, and is given no error for it.
    if (Array.isArray(message) || !('method' in message && 'id' in message) || options?.onRequestStreamEnd)
      return send(message, options);
    const { id } = message;
    const stop = new AbortController();
    waiting.set(id, stop);
    const onRequestStreamEnd = (): void => {
      const error = { code: CUT_OFF, message: 'The stream ended without an answer.' };
      if (waiting.delete(id)) deliver?.({ jsonrpc: '2.0', id, error });
    };
    const requestSignal = options?.requestSignal ?? stop.signal;
    try {
      await send(message, { ...options, requestSignal, onRequestStreamEnd });
    } catch (error) {
      waiting.delete(id);
      throw error;
    }
  };
}

/** The stream of a request that was given up would otherwise be resumed as long as the server likes. */
function forgetCancelled(message: JSONRPCMessage, waiting: Map<RequestId, AbortController>): void {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return;
  const id = (message.params as { requestId?: RequestId } | undefined)?.requestId;
  if (id === undefined) return;
  waiting.get(id)?.abort();
  waiting.delete(id);
}

/** The older transport has one stream for everything, and a new one is another session: the connection is lost with it. */
function closeWithStream(transport: SSEClientTransport): void {
  const report = transport.onerror;
  transport.onerror = (error) => {
    report?.(error);
    if (error instanceof SseError) void transport.close();
  };
}
