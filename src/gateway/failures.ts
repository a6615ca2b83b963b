import {
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { ToolError } from '../contract/errors.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { RPC_ERROR } from '../contract/servers.ts';
import { CUT_OFF } from './streams.ts';
import { UNREADABLE } from './wire.ts';

/** The server answered that it did not even look at the call. */
const REFUSED = new Set([-32_700, -32_600, -32_601, -32_602, -32_020, -32_021, -32_022]);

/** The connection ended under the request: nothing is known but that no answer came. */
export const isLostConnection = (error: unknown): boolean =>
  (error instanceof SdkError &&
    (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected)) ||
  (error instanceof Error && error.message === 'The server is not running.');

/** The server was asked, and its answer ended before it was complete. It may well be there for the next request. */
export const isCutOff = (error: unknown): boolean =>
  (error instanceof ProtocolError && error.code === CUT_OFF) ||
  // What `fetch` throws of its own; an address where nothing listens was never asked.
  (error instanceof TypeError && !wasRefusedConnection(error));

/**
 * An HTTP server that was restarted no longer knows our session and says so before it looks at the request: with 404, as
 * the protocol wants, or with 400, as many do.
 */
export const isLostSession = (error: unknown): boolean =>
  error instanceof SdkHttpError && (error.status === 404 || error.status === 400);

/** The server wants to know who asks. */
export const isUnauthorized = (error: unknown): boolean =>
  error instanceof SdkHttpError && error.status === 401;

/**
 * What a failed request says about the effect. Only an answer, or the certainty that nothing was sent, settles a change;
 * everything else leaves it unknown, and an unknown change is never sent again.
 */
export async function toError(
  error: unknown,
  server: string,
  clean: (result: JsonObject) => Promise<JsonObject>,
): Promise<ToolError> {
  if (error instanceof ToolError) return error;
  if (error instanceof ProtocolError && error.code !== CUT_OFF) {
    if (error.code === UNREADABLE)
      return new ToolError('server_error', `The server ${server} gave an unreadable answer.`, {
        cause: error,
        effect: 'unknown',
      });
    return new ToolError('server_error', `The server ${server} answered with error ${error.code}.`, {
      cause: error,
      effect: REFUSED.has(error.code) ? 'none' : 'partial',
      detail: { rpc_code: error.code },
      result: await clean(errorResult(error)),
    });
  }
  if (error instanceof SdkHttpError) {
    const refused = error.status >= 400 && error.status < 500 && error.status !== 408;
    const hint =
      error.status === 401 || error.status === 403
        ? ` Check its headers in the configuration, or sign in with \`countersign servers login ${server}\`.`
        : '';
    return new ToolError(
      'server_unavailable',
      `The server ${server} answered with HTTP status ${error.status}.${hint}`,
      {
        cause: error,
        effect: refused ? 'none' : 'unknown',
        retryable: !refused,
      },
    );
  }
  // A new token was refused, so the request was not sent a second time; the first was answered with 401.
  if (error instanceof OAuthError || error instanceof UnauthorizedError)
    return new ToolError(
      'server_unavailable',
      `The server ${server} no longer accepts its token. Sign in with: countersign servers login ${server}`,
      { cause: error, effect: 'none' },
    );
  const neverSent = wasRefusedConnection(error);
  return new ToolError(
    'server_unavailable',
    `The server ${server} ${neverSent ? 'cannot be reached' : 'gave no answer'}.`,
    {
      cause: error,
      effect: neverSent ? 'none' : 'unknown',
    },
  );
}

/** Far longer than any error a person or a model reads. */
const MAX_ERROR = 64 * 1024;

/** The server's error as a result, with the error itself for a client that would have got it directly. */
function errorResult({ code, message: whole, data }: ProtocolError): JsonObject {
  const message = whole.length > MAX_ERROR ? `${whole.slice(0, MAX_ERROR)}… (cut)` : whole;
  const isShort = data !== undefined && JSON.stringify(data).length <= MAX_ERROR;
  return {
    content: [{ type: 'text', text: message }],
    isError: true,
    _meta: { [RPC_ERROR]: { code, message, ...(isShort ? { data: data as JsonValue } : {}) } },
  };
}

/** Nothing listens there, so nothing was sent. */
function wasRefusedConnection(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') return true;
  }
  return false;
}
