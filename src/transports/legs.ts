import { createHash, randomUUID } from 'node:crypto';
import {
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { JsonObject } from '../contract/json.ts';
import { principalName } from '../contract/principal.ts';
import type { CallRequest, CallResult, Progress } from '../kernel/call/call.ts';
import { ParkedCalls } from './parked.ts';
import type { Served } from './served.ts';
import type { Ending, Task } from './task-board.ts';
import { boardOf } from './tasks.ts';

/** What a person was asked: their answer counts for exactly this call, once. */
export interface QuestionState {
  readonly nonce: string;
  readonly principal: string;
  readonly digest: string;
  /** Stamp of what the question showed. */
  readonly about: string;
  /** The call that waits for the answer, where a third-party server asked. */
  readonly parked?: string;
}

/** When the client gets a handle: immediately, or once a third-party server makes a task of the call. */
export interface TaskOptions {
  readonly begin: 'now' | 'with-remote';
  /** Must not fail. */
  toEnding(result: Promise<CallResult>): Promise<Ending>;
}

export interface LegOptions {
  readonly capabilities: JsonObject;
  readonly codec: RequestStateCodec<QuestionState>;
  readonly task?: TaskOptions | undefined;
}

export type Leg =
  | { readonly result: CallResult }
  | { readonly asked: ReturnType<typeof inputRequired> }
  | { readonly task: Task };

const parkedCalls = new WeakMap<Served, ParkedCalls>();

/**
 * A call that may outlive the request it came with: a server asks the client, whose next request brings the answers, or
 * the client takes a handle. It is admitted once and has one intent and one outcome all the same.
 */
export async function runLeg(
  served: Served,
  request: CallRequest,
  { mcpReq }: ServerContext,
  { capabilities, codec, task: wanted }: LegOptions,
): Promise<Leg> {
  const calls = parkedCalls.get(served) ?? new ParkedCalls();
  parkedCalls.set(served, calls);
  const principal = principalName(request.principal);
  const digest = callStamp(request.bound.tool.name, request.args);
  const parked = mcpReq.requestState<QuestionState>()?.parked;
  const waiting = parked === undefined ? undefined : calls.take(parked, principal, digest);
  if (parked !== undefined && !waiting)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'The call that asked is no longer waiting. Do not repeat it before you know its outcome.',
    );
  const call = waiting ?? calls.open(principal, digest);
  call.onProgress = request.onProgress;
  call.onLog = request.onLog;
  if (waiting) waiting.answer((mcpReq.inputResponses ?? {}) as JsonObject);
  else {
    const begin = (): Task | undefined => wanted && call.becomeTask(boardOf(served), wanted.toEnding);
    const inTask = wanted?.begin === 'now' && begin() !== undefined;
    const { asksClient } = request.bound.tool;
    call.start(() =>
      served.invoke({
        ...request,
        onProgress: (progress: Progress) => call.onProgress?.(progress),
        onLog: (message) => call.onLog?.(message),
        signal: call.signal,
        ask: asksClient ? { capabilities, put: (requests) => call.put(requests) } : undefined,
        task: wanted && { begin: () => void (inTask || begin()) },
      }),
    );
  }
  const end = await call.leg(mcpReq.signal);
  if (!('requests' in end)) return end;
  const state = { nonce: randomUUID(), principal, digest, about: '', parked: calls.keep(call) };
  const requestState = await codec.mint(state);
  return { asked: inputRequired({ inputRequests: end.requests as never, requestState }) };
}

/** Binds an answer to the exact call it was asked for; the client repeats the call to the letter. */
export function callStamp(tool: string, args: unknown): string {
  try {
    return createHash('sha256')
      .update(JSON.stringify([tool, args]))
      .digest('hex');
  } catch {
    // Nested beyond any sense: the pipeline refuses it, and no answer can belong to it.
    return randomUUID();
  }
}
