import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  inputRequired,
  inputResponse,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { CALL_TOOL } from '../catalogue/discovery.ts';
import { toDirectResult, toMcpResult } from '../catalogue/mcp.ts';
import { ToolError } from '../contract/errors.ts';
import type { JsonObject } from '../contract/json.ts';
import { type Principal, principalName, throughDialog } from '../contract/principal.ts';
import { RPC_ERROR } from '../contract/servers.ts';
import type { BoundTool } from '../contract/toolkit.ts';
import type { CallRequest, CallResult, Elicitation, Progress } from '../kernel/call/call.ts';
import { isObject } from '../lib/is-object.ts';
import { closest } from '../lib/text.ts';
import { resolvePrincipal } from './identity.ts';
import { whenDropped } from './in-flight.ts';
import { callStamp, type QuestionState, runLeg, type TaskOptions } from './legs.ts';
import type { Peer, Served } from './served.ts';
import type { Ending } from './task-board.ts';
import { asForeign, boardOf, taskHandle } from './tasks.ts';

export const TOKEN_KEY = 'countersign/token';
const IDEMPOTENCY_KEY = 'countersign/idempotency_key';
const QUESTION = 'decision';

export interface Caller {
  /** The client's own name and version: a label, never an identity. */
  readonly client: string | undefined;
  readonly canAsk: boolean;
  /** Can show a person a link; a page it opens knows the person, the client's answer does not. */
  readonly canLink: boolean;
  /** What a third-party server may learn that the client can do. */
  readonly capabilities: JsonObject;
  /** Understands a handle in place of an answer. */
  readonly takesTasks: boolean;
}

/** Serves one `tools/call`: the only thing it decides is who is asking. */
export async function callTool(
  served: Served,
  peer: Peer,
  caller: Caller,
  params: {
    readonly name: string;
    readonly arguments?: Record<string, unknown>;
    /** A client of 2025 asks for a handle with the call itself. */
    readonly task?: unknown;
  },
  context: ServerContext,
  codec: RequestStateCodec<QuestionState>,
): Promise<CallToolResult | ReturnType<typeof inputRequired>> {
  const { _meta: meta, signal } = context.mcpReq;
  const principal = await identify(served, peer, meta?.[TOKEN_KEY]);
  const { owned, args } = await pick(served, params.name, params.arguments ?? {});
  const consent = await consentOf(served, caller, context, principal, () => callStamp(owned.tool.name, args));
  const key = meta?.[IDEMPOTENCY_KEY];
  const request: CallRequest = {
    bound: owned,
    args,
    principal: caller.client ? { ...principal, label: caller.client } : principal,
    transport: peer.transport,
    client: caller.client,
    connection: peer.connection,
    idempotencyKey: typeof key === 'string' && key ? key : undefined,
    meta: foreignMeta(context.mcpReq),
    onLog: logSender(context),
  };
  const wanted = taskOptions(served, owned, caller, context.mcpReq.envelope ? undefined : params.task);
  if (wanted?.begin === 'now' && !boardOf(served).hasShare(principalName(principal))) {
    const refusal = tooManyTasks(principalName(principal), served.shares.tasks);
    return render(served, owned, await served.invoke({ ...request, refusal }), peer);
  }
  const onProgress = progressSender(context);
  if (wanted || owned.tool.asksClient) {
    const { capabilities } = caller;
    const leg = await runLeg(served, { ...request, onProgress }, context, {
      capabilities,
      codec,
      task: wanted,
    });
    if ('asked' in leg) return leg.asked;
    if ('task' in leg) return taskHandle(leg.task, context) as unknown as CallToolResult;
    return render(served, owned, leg.result, peer);
  }
  const invoke = (answer: Elicitation | undefined): Promise<CallResult> =>
    served.invoke({
      ...request,
      signal: owned.tool.outlivesCaller ? untilLeft(context) : signal,
      consent: answer,
      onProgress,
    });
  const result = await invoke(consent);
  if (result.outcome.status === 'needs_person') {
    const { question: text, about, sign } = result.outcome;
    // A client that opens no links gets the refusal, which has the link.
    if (sign !== undefined && !caller.canLink) return render(served, owned, await invoke(undefined), peer);
    const state: QuestionState = {
      nonce: randomUUID(),
      principal: principalName(principal),
      digest: callStamp(owned.tool.name, args),
      about,
    };
    return inputRequired({
      inputRequests: {
        [QUESTION]:
          sign === undefined ? question(text) : inputRequired.elicitUrl({ message: text, url: sign }),
      },
      requestState: await codec.mint(state),
    });
  }
  return render(served, owned, result, peer);
}

/** What is known of a call that needs nothing but its reply: no question, no task, no progress. */
export interface PlainRequest {
  readonly args: unknown;
  readonly client: string | undefined;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
}

/** Serves such a call; who is asking is decided as for any other. */
export async function callPlainTool(
  served: Served,
  peer: Peer,
  owned: BoundTool,
  { args, client, meta, signal }: PlainRequest,
): Promise<CallToolResult> {
  const principal = await identify(served, peer, meta?.[TOKEN_KEY]);
  const key = meta?.[IDEMPOTENCY_KEY];
  const result = await served.invoke({
    bound: owned,
    args,
    principal: client ? { ...principal, label: client } : principal,
    transport: peer.transport,
    client,
    connection: peer.connection,
    idempotencyKey: typeof key === 'string' && key ? key : undefined,
    meta: meta && foreignMeta({ _meta: meta } as ServerContext['mcpReq']),
    signal,
  });
  return render(served, owned, result, peer);
}

const tooManyTasks = (owner: string, max: number): ToolError =>
  new ToolError(
    'quota_exceeded',
    `${owner} already has ${max} working tasks, the maximum (server.max_tasks_per_agent). Nothing was done: wait until some are finished, or cancel them.`,
    { detail: { setting: 'server.max_tasks_per_agent', max } },
  );

/** Clients of 2025 may drop a stream and cancel nothing; without this their answer would count as delivered. */
function untilLeft({ mcpReq, http }: ServerContext): AbortSignal {
  return http?.req ? AbortSignal.any([whenDropped(http.req), mcpReq.signal]) : mcpReq.signal;
}

/** What belongs to this connection (progress token) or to us is not another server's business. */
export function foreignMeta({ _meta: meta, envelope }: ServerContext['mcpReq']): JsonObject | undefined {
  const theirs = Object.entries(meta ?? {}).filter(
    ([key]) => key !== 'progressToken' && !key.startsWith('countersign/'),
  );
  // A legacy client has a level for its whole session, by which our own side filters; a modern one names it or wants none.
  const level = envelope ? (envelope as Record<string, unknown>)[LOG_LEVEL_META_KEY] : 'debug';
  const all = level === undefined ? theirs : [...theirs, [LOG_LEVEL_META_KEY, level] as const];
  return all.length === 0 ? undefined : (Object.fromEntries(all) as JsonObject);
}

/** Passes a third-party server's log messages on, as far as this client wants them. */
export const logSender =
  ({ mcpReq }: ServerContext): CallRequest['onLog'] =>
  ({ level, data, logger }) =>
    void mcpReq.log(level as LoggingLevel, data, logger).catch(() => {});

/** The renderer builds protocol results without knowing the SDK; the shapes are the same. */
function render(
  served: Served,
  { tool, toolkit }: BoundTool,
  result: CallResult,
  peer?: Peer,
): CallToolResult {
  const { dialect } = toolkit;
  const toResult = peer?.transport === 'tcp' ? toDirectResult : toMcpResult;
  const rendered = toResult({ tool, dialect, ...result }, served.modes()) as unknown as CallToolResult;
  if (!dialect.passOn) return rendered;
  // A server's protocol error reaches the client as one, as it would directly.
  const error = rendered._meta?.[RPC_ERROR] as { code: number; message: string; data?: unknown } | undefined;
  if (error) throw new ProtocolError(error.code, error.message, error.data);
  return asForeign(rendered);
}

/** Whether the client is given a handle, and when; undefined where it waits for the result. */
function taskOptions(
  served: Served,
  bound: BoundTool,
  { takesTasks }: Caller,
  wanted: unknown,
): TaskOptions | undefined {
  const { tool } = bound;
  const toEnding = (result: Promise<CallResult>): Promise<Ending> => endingOf(served, bound, result);
  if (wanted !== undefined) {
    if (tool.mayTakeLong) return { begin: 'now', toEnding };
    const message = `${tool.name} cannot be called as a task. Call it without \`task\`.`;
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, message);
  }
  if (!takesTasks || !tool.mayTakeLong) return undefined;
  return { begin: tool.remoteTasks ? 'with-remote' : 'now', toEnding };
}

/** How a task ends; a tool that ended well before it noticed a cancel, or that may have changed something, says so. */
async function endingOf(served: Served, bound: BoundTool, running: Promise<CallResult>): Promise<Ending> {
  try {
    const result = await running;
    const { outcome } = result;
    if (outcome.status === 'failed' && outcome.fault.code === 'cancelled') return { status: 'cancelled' };
    return { status: 'completed', result: render(served, bound, result) };
  } catch (error) {
    if (error instanceof ProtocolError) {
      const { code, message, data } = error;
      return { status: 'failed', error: { code, message, ...(data === undefined ? {} : { data }) } };
    }
    served.log.error('A task failed unexpectedly', { tool: bound.tool.name, error });
    const code = ProtocolErrorCode.InternalError;
    return { status: 'failed', error: { code, message: 'Internal error. Details are in the server log.' } };
  }
}

export async function identify(served: Served, peer: Peer, shown: unknown): Promise<Principal> {
  const token = typeof shown === 'string' ? shown : peer.token;
  if (token === undefined && peer.principal) return peer.principal;
  const who = await resolvePrincipal(served, { token, needsToken: peer.needsToken });
  if (who.principal) {
    peer.onIdentified?.(who.principal);
    return who.principal;
  }
  const text =
    who.refused === 'missing'
      ? `Authentication required: pass an agent token in _meta["${TOKEN_KEY}"].`
      : 'The token is invalid or revoked.';
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, text);
}

/** Discovery's call_tool is replaced by the tool it names, so that the inner tool's effect is what is evaluated. */
export async function pick(
  served: Served,
  name: string,
  args: unknown,
): Promise<{ owned: BoundTool; args: unknown }> {
  const { exposure } = served;
  if (name === CALL_TOOL && exposure.options.discovery && isObject(args)) {
    const inner = typeof args.name === 'string' ? await exposure.reach(args.name) : undefined;
    const known = Object.keys(args).every((key) => key === 'name' || key === 'arguments');
    if (inner && known) return { owned: inner, args: args.arguments ?? {} };
  }
  const owned = await exposure.find(name);
  if (!owned) throw unknownTool(served, name.slice(0, 80));
  return { owned, args };
}

/** Guesses among what this session lists anyway: hidden tools look like those that are not there. */
function unknownTool({ exposure }: Served, name: string): ProtocolError {
  const meant = closest(name, exposure.names);
  const hint =
    meant === undefined
      ? 'tools/list shows the tools of this session; a person chooses them with --toolkits and --profile.'
      : `Did you mean ${meant}?`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}. ${hint}`);
}

async function consentOf(
  served: Served,
  caller: Caller,
  { mcpReq }: ServerContext,
  principal: Principal,
  wanted: () => string,
): Promise<Elicitation | undefined> {
  const state = served.dialogs ? mcpReq.requestState<QuestionState>() : undefined;
  if (
    state &&
    state.parked === undefined &&
    state.digest === wanted() &&
    state.principal === principalName(principal)
  ) {
    const answer = inputResponse(mcpReq.inputResponses, QUESTION);
    const agreed = answer.kind === 'elicit' && answer.action === 'accept' && answer.content?.confirm === true;
    if (agreed && (await served.firstUse(`elicitation:${state.nonce}`)))
      return { person: throughDialog(served.person, caller.client), about: state.about };
    // Declined, cancelled or used twice: no answer means no.
    return undefined;
  }
  return caller.canAsk ? 'can-ask' : undefined;
}

const question = (message: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: {
        confirm: { type: 'boolean', title: 'Approve', description: 'Only a person may decide this.' },
      },
      required: ['confirm'],
    },
  });

export function progressSender({ mcpReq }: ServerContext): ((progress: Progress) => void) | undefined {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return undefined;
  let count = 0;
  return ({ message, done, total }) => {
    // The protocol wants every value larger than the one before; only a known total forbids to count on.
    count = done > count ? done : count + (total === undefined ? 1 : 1e-6);
    const params = {
      progressToken: token,
      progress: count,
      ...(message === '' ? {} : { message }),
      ...(total === undefined ? {} : { total }),
    };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}
