import {
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { JsonObject } from '../contract/json.ts';
import type { Principal } from '../contract/principal.ts';
import { RPC_ERROR } from '../contract/servers.ts';
import type { CallRequest } from '../kernel/call/call.ts';
import { type Caller, foreignMeta, logSender, progressSender } from './call-tool.ts';
import { type QuestionState, runLeg } from './legs.ts';
import type { ForeignMethod, Peer, Served } from './served.ts';

/**
 * Asks the third-party server that a resource, prompt or completion belongs to, through the pipeline: policy decides and
 * evidence is left as for any read. Undefined when it is no server's.
 */
export async function askForeign(
  served: Served,
  peer: Peer,
  principal: Principal,
  method: ForeignMethod,
  { _meta: _, ...params }: Record<string, unknown>,
  context: ServerContext,
  asking: { readonly caller: Caller; readonly codec: RequestStateCodec<QuestionState> },
): Promise<JsonObject | undefined> {
  const found = await served.foreign?.find(method, params as JsonObject);
  if (!found) return undefined;
  const request: CallRequest = {
    ...found,
    principal,
    transport: peer.transport,
    client: asking.caller.client,
    connection: peer.connection,
    onProgress: progressSender(context),
    meta: foreignMeta(context.mcpReq),
    onLog: logSender(context),
  };
  const { caller, codec } = asking;
  const end = found.bound.tool.asksClient
    ? await runLeg(served, request, context, { capabilities: caller.capabilities, codec })
    : { result: await served.invoke({ ...request, signal: context.mcpReq.signal }) };
  if ('asked' in end) return end.asked as unknown as JsonObject;
  if ('task' in end) throw new Error('Only a tool call can become a task.');
  const { outcome, callId } = end.result;
  if (outcome.status === 'ok') return outcome.data as JsonObject;
  const data = { call_id: callId, status: outcome.status };
  if (outcome.status === 'routed') {
    const message = `${found.bound.tool.title} requires approval: ${outcome.reason} (approval ${outcome.approvalId}).`;
    throw new ProtocolError(ProtocolErrorCode.InternalError, message, data);
  }
  if (!('fault' in outcome))
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      'Policy made this a dry run; nothing was read.',
      data,
    );
  const { fault } = outcome;
  // The server's own error, as a direct connection gives it.
  const theirs = (fault.result?._meta as JsonObject | undefined)?.[RPC_ERROR] as RpcError | undefined;
  if (theirs) throw new ProtocolError(theirs.code, theirs.message, theirs.data);
  const code = fault.code === 'not_found' ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  throw new ProtocolError(code, fault.message, { ...data, code: fault.code });
}

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}
