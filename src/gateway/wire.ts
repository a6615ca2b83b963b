import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { JsonObject } from '../contract/json.ts';
import { isObject } from '../lib/is-object.ts';

/** Far above any message a tool gives; a longer one can only be an attack or a mistake. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Our code for a response that is not one: the server answered, but nothing can be said about the outcome. */
export const UNREADABLE = -32_099;

/**
 * The SDK drops a message it cannot parse and lets the call wait for its deadline. A response with an unusable part is
 * repaired where its meaning is clear, and otherwise becomes an error that says so.
 */
export function repairMessage(value: unknown): JSONRPCMessage | undefined {
  if (!isObject(value)) return undefined;
  if (value.jsonrpc !== '2.0') return isAnswer(value) ? unreadable(value.id) : undefined;
  if ('method' in value) return typeof value.method === 'string' ? (value as JSONRPCMessage) : undefined;
  if (typeof value.id !== 'string' && typeof value.id !== 'number') return undefined;
  const { id } = value;
  if (isObject(value.error)) {
    const { code, message, data } = value.error;
    const error = {
      code: Number.isSafeInteger(code) ? code : UNREADABLE,
      message: typeof message === 'string' ? message : 'The server reported an error without a message.',
      ...(data === undefined ? {} : { data }),
    };
    return { jsonrpc: '2.0', id, error } as JSONRPCMessage;
  }
  if (!isObject(value.result)) return unreadable(id);
  const { _meta: meta, ...result } = value.result;
  if (meta === undefined || isObject(meta)) return value as JSONRPCMessage;
  return { jsonrpc: '2.0', id, result } as JSONRPCMessage;
}

const isAnswer = (value: Record<string, unknown>): value is { id: string | number } =>
  (typeof value.id === 'string' || typeof value.id === 'number') && ('result' in value || 'error' in value);

const unreadable = (id: string | number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code: UNREADABLE, message: 'The server answered with something that is not a result.' },
});

const ORIGINAL = Symbol('the result as the server gave it');

/**
 * The SDK checks a tool's result again and throws it away when it contains something the SDK does not know: a kind of
 * content, or a task. By then the call has had its effect, so the SDK is shown an empty result with the real one in it.
 */
export function shieldResult(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message) || !isObject(message.result)) return message;
  const { resultType: type, ...result } = message.result as JsonObject;
  const isResult = Array.isArray(result.content) && (type === undefined || type === 'complete');
  if (!isResult && type !== 'task') return message;
  const original = type === 'task' ? { ...result, resultType: type } : result;
  return { ...message, result: { resultType: 'complete', content: [], [ORIGINAL]: original } } as never;
}

/** What the server gave, of a result that the SDK passed on. */
export const originalResult = (result: JsonObject): JsonObject =>
  (result as { [ORIGINAL]?: JsonObject })[ORIGINAL] ?? result;

/** The same repair for answers over HTTP, whole or as a stream of events. */
export async function fetchRepaired(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { body, status, headers } = response;
  const type = headers.get('content-type') ?? '';
  if (!body) return response;
  if (response.ok && type.startsWith('text/event-stream'))
    return new Response(body.pipeThrough(repairEvents()), { status, headers });
  const limited = new Response(body.pipeThrough(limit()), { status, headers: withoutLength(headers) });
  if (!response.ok || !type.startsWith('application/json')) return limited;
  return new Response(repairText(await limited.text()), { status, headers: limited.headers });
}

const tooLong = (): Error => new Error(`A message is larger than ${MAX_MESSAGE_BYTES / 1024 / 1024} MB.`);

/** An answer without end would fill the memory of this process. */
function limit(): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > MAX_MESSAGE_BYTES) throw tooLong();
      controller.enqueue(chunk);
    },
  });
}

function withoutLength(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete('content-length');
  copy.delete('content-encoding');
  return copy;
}

/** Only what is a response is touched, and only where it must be. */
function repairText(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const repaired = isObject(value) && 'id' in value ? repairMessage(value) : undefined;
    return repaired === undefined || repaired === value ? text : JSON.stringify(repaired);
  } catch {
    return text;
  }
}

function repairEvents(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest: string[] = [];
  let size = 0;
  const repairLine = (line: string): string => {
    const [, data] = /^data: ?(\{.*\})\r?$/s.exec(line) ?? [];
    return data === undefined ? line : `data: ${repairText(data)}`;
  };
  return new TransformStream({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true });
      const end = text.lastIndexOf('\n');
      // A line is put together once, when it has ended: a long one would otherwise be read again with every chunk.
      if (end !== -1) {
        const lines = `${rest.join('')}${text.slice(0, end)}`.split('\n');
        controller.enqueue(encoder.encode(`${lines.map(repairLine).join('\n')}\n`));
        rest = [];
        size = 0;
      }
      rest.push(text.slice(end + 1));
      size += text.length - end - 1;
      if (size > MAX_MESSAGE_BYTES) throw tooLong();
    },
    flush(controller) {
      const last = rest.join('');
      if (last !== '') controller.enqueue(encoder.encode(repairLine(last)));
    },
  });
}
