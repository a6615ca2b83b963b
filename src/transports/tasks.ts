import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type JSONRPCRequest,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Principal, principalName } from '../contract/principal.ts';
import type { Served } from './served.ts';
import { TaskBoard } from './task-board.ts';

/** Calls that may take long are answered with a handle, for clients that declare this extension. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const boards = new WeakMap<Served, TaskBoard>();

/** One board for all connections of a process. */
export function boardOf(served: Served): TaskBoard {
  const known = boards.get(served);
  if (known) return known;
  const made = new TaskBoard();
  boards.set(served, made);
  return made;
}

/** Lets go of what still works; to be awaited before the application closes. */
export const closeTasks = async (served: Served): Promise<void> => boards.get(served)?.close();

/** Clients of 2026 declare the extension with each request; older ones cannot. */
export function takesTasks({ mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as { [key: string]: unknown } | undefined;
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return capabilities?.extensions?.[TASKS_EXTENSION] !== undefined;
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** The SDK has no server side of the extension; this adds what its own checks would leave out or spoil. */
export class TaskServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler);
    if (method === 'server/discover') {
      return async (request, context) => withExtension(await wrapped(request, context));
    }
    if (method !== 'tools/call') return wrapped;
    return async (request, context) => {
      const result = await wrapped(request, context);
      // The SDK takes every result of a tool for one with content, and adds an empty list.
      if (result.resultType !== 'task') return result;
      const { content: _, ...task } = result;
      return task;
    };
  }
}

function withExtension(result: Result): Result {
  const capabilities = result.capabilities as ClientCapabilities | undefined;
  const extensions = { ...capabilities?.extensions, [TASKS_EXTENSION]: {} };
  return { ...result, capabilities: { ...capabilities, extensions } };
}

const named = z.looseObject({ taskId: z.string() });

export function addTaskMethods(
  server: Server,
  served: Served,
  admit: (context: ServerContext) => Promise<Principal>,
): void {
  const board = boardOf(served);
  const ownerOf = async (context: ServerContext): Promise<string> => {
    if (!context.mcpReq.envelope)
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
    if (!takesTasks(context)) {
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
      });
    }
    return principalName(await admit(context));
  };
  server.setRequestHandler('tasks/get', { params: named }, async ({ taskId }, context) => {
    return { ...(board.get(await ownerOf(context), taskId) ?? unknown(taskId)) };
  });
  // No task here ever asks its client, so an answer has no question to go with and is passed over.
  server.setRequestHandler('tasks/update', { params: named }, async ({ taskId }, context) => {
    if (!board.get(await ownerOf(context), taskId)) unknown(taskId);
    return {};
  });
  server.setRequestHandler('tasks/cancel', { params: named }, async ({ taskId }, context) => {
    if (!board.cancel(await ownerOf(context), taskId)) unknown(taskId);
    return {};
  });
}

/** Somebody else's task and none at all look the same. */
function unknown(taskId: string): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no task ${taskId.slice(0, 80)}.`);
}
