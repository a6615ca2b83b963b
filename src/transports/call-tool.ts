import { createHash, randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { type Principal, principalName } from '../contract/principal.ts';
import type { BoundTool, CallRequest, CallResult, Consent, Progress } from '../kernel/call.ts';
import { closest } from '../lib/closest.ts';
import { CALL_TOOL } from '../registry/discovery.ts';
import type { OwnedTool } from '../registry/inventory.ts';
import { toMcpResult } from '../render/mcp.ts';
import type { Peer, Served } from './served.ts';
import type { Work } from './task-board.ts';
import { boardOf } from './tasks.ts';

export const TOKEN_KEY = 'countersign/token';
const IDEMPOTENCY_KEY = 'countersign/idempotency_key';
const QUESTION = 'decision';

/** What a person was asked: their answer counts for exactly this call, once. */
export interface QuestionState {
  readonly nonce: string;
  readonly principal: string;
  readonly digest: string;
  /** Stamp of what the question showed. */
  readonly about: string;
}

export interface Caller {
  /** The client's own name and version: a label, never an identity. */
  readonly client: string | undefined;
  readonly canAsk: boolean;
  /** Understands a handle in place of an answer. */
  readonly takesTasks: boolean;
}

/** Serves one `tools/call`: the only thing it decides is who is asking. */
export async function callTool(
  served: Served,
  peer: Peer,
  caller: Caller,
  params: { readonly name: string; readonly arguments?: Record<string, unknown> },
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
    idempotencyKey: typeof key === 'string' && key ? key : undefined,
  };
  if (caller.takesTasks && owned.tool.mayTakeLong) {
    const task = boardOf(served).start(principalName(principal), longCall(served, request));
    if (task) return { resultType: 'task', ...task } as unknown as CallToolResult;
  }
  const result = await served.invoke({ ...request, signal, consent, onProgress: progressSender(context) });
  if (result.outcome.status === 'needs_person') {
    const { question: text, about } = result.outcome;
    const state: QuestionState = {
      nonce: randomUUID(),
      principal: principalName(principal),
      digest: callStamp(owned.tool.name, args),
      about,
    };
    return inputRequired({
      inputRequests: { [QUESTION]: question(text) },
      requestState: await codec.mint(state),
    });
  }
  return render(served, owned, result);
}

/** The renderer builds protocol results without knowing the SDK; the shapes are the same. */
const render = (served: Served, { tool, toolkit }: BoundTool, result: CallResult): CallToolResult =>
  toMcpResult({ tool, dialect: toolkit.dialect, ...result }, served.modes()) as unknown as CallToolResult;

/** The same call without its request: progress becomes the task's message, and only the task can be cancelled. */
const longCall =
  (served: Served, request: CallRequest): Work =>
  async (signal, say) => {
    try {
      const onProgress = ({ message }: Progress) => say(message);
      const result = await served.invoke({ ...request, signal, onProgress });
      const { outcome } = result;
      // A tool that ended well before it noticed, or that may have changed something, says so in its result.
      if (outcome.status === 'failed' && outcome.fault.code === 'cancelled') return { status: 'cancelled' };
      return { status: 'completed', result: render(served, request.bound, result) };
    } catch (error) {
      served.log.error('A task failed unexpectedly', { tool: request.bound.tool.name, error });
      const code = ProtocolErrorCode.InternalError;
      return { status: 'failed', error: { code, message: 'The server failed; details are in its log.' } };
    }
  };

export async function identify(served: Served, peer: Peer, shown: unknown): Promise<Principal> {
  const token = typeof shown === 'string' ? shown : peer.token;
  if (token === undefined) {
    if (!peer.needsToken) return peer.principal;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `A token is required here: put an agent's token in _meta["${TOKEN_KEY}"].`,
    );
  }
  const known = await served.authenticate(token);
  if (!known)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The token is not known or was revoked.');
  return known;
}

/** Discovery's call_tool is replaced by the tool it names, so that the inner tool's effect is what is judged. */
export async function pick(
  served: Served,
  name: string,
  args: unknown,
): Promise<{ owned: OwnedTool; args: unknown }> {
  const { exposure } = served;
  if (name === CALL_TOOL && exposure.options.discovery && isRecord(args)) {
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
      ? 'tools/list names those of this session; a person chooses them with --toolkits and --profile.'
      : `Did you mean ${meant}?`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}. ${hint}`);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Binds an answer to the exact call it was asked for; the client repeats the call to the letter. */
function callStamp(tool: string, args: unknown): string {
  try {
    return createHash('sha256')
      .update(JSON.stringify([tool, args]))
      .digest('hex');
  } catch {
    // Nested beyond any sense: the pipeline refuses it, and no answer can belong to it.
    return randomUUID();
  }
}

async function consentOf(
  served: Served,
  caller: Caller,
  { mcpReq }: ServerContext,
  principal: Principal,
  wanted: () => string,
): Promise<Consent | undefined> {
  const state = served.dialogs ? mcpReq.requestState<QuestionState>() : undefined;
  if (state && state.digest === wanted() && state.principal === principalName(principal)) {
    const answer = inputResponse(mcpReq.inputResponses, QUESTION);
    const agreed = answer.kind === 'elicit' && answer.action === 'accept' && answer.content?.confirm === true;
    if (agreed && (await served.firstUse(`elicitation:${state.nonce}`)))
      return { person: served.person, about: state.about };
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
        confirm: { type: 'boolean', title: 'Yes, do it', description: 'Only a person may answer this.' },
      },
      required: ['confirm'],
    },
  });

function progressSender({ mcpReq }: ServerContext): ((progress: Progress) => void) | undefined {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return undefined;
  let count = 0;
  return ({ message, done, total }) => {
    // The protocol wants every value larger than the one before.
    count = Math.max(count + (done > count ? 0 : 1e-6), done);
    const params = {
      progressToken: token,
      progress: count,
      message,
      ...(total === undefined ? {} : { total }),
    };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}
