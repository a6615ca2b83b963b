import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type JSONRPCRequest,
  type LoggingLevel,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { JsonObject } from '../contract/json.ts';
import { type Principal, principalName } from '../contract/principal.ts';
import { TASKS_EXTENSION } from '../contract/servers.ts';
import type { Served } from './served.ts';
import { isOver, type Task, TaskBoard } from './task-board.ts';

/** Declared to clients of 2025; modern ones read the extension. */
export const LEGACY_TASKS = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

const boards = new WeakMap<Served, TaskBoard>();

/** One board for all connections of a process. */
export function boardOf(served: Served): TaskBoard {
  const known = boards.get(served);
  if (known) return known;
  const made = new TaskBoard({ working: served.shares.tasks });
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

/** Results of another server: the SDK would strip what it does not know, or refuse them after their effect. */
const foreign = new WeakSet<object>();

export function asForeign<T extends object>(result: T): T {
  foreign.add(result);
  return result;
}

/** Passes another server's results on untouched; everything else takes the SDK's way. */
export class PassingServer extends Server {
  /** Called with the level of log messages that the client set. */
  onlevel?: (level: LoggingLevel) => Promise<void> | undefined;

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    if (method === 'logging/setLevel') {
      const wrapped = super._wrapHandler(method, handler);
      return async (request, context) => {
        const result = await wrapped(request, context);
        await this.onlevel?.((request.params as { level: LoggingLevel }).level);
        return result;
      };
    }
    if (method !== 'tools/call') return super._wrapHandler(method, handler);
    const passed = new WeakMap<JSONRPCRequest, Result>();
    const wrapped = super._wrapHandler(method, async (request, context) => {
      const given = await handler(request, context);
      if (!foreign.has(given)) return given;
      passed.set(request, given);
      return { content: [] };
    });
    return async (request, context) => {
      const result = await wrapped(request, context);
      return passed.get(request) ?? result;
    };
  }
}

/**
 * The SDK has no server side of the extension; this adds what its own checks would leave out or spoil. `_wrapHandler` is
 * the SDK's protected hook for subclasses; no public method runs after its checks of a `tools/call` result.
 */
export class TaskServer extends PassingServer {
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
  const { tasks: _, ...capabilities } = (result.capabilities ?? {}) as ClientCapabilities;
  const extensions = { ...capabilities.extensions, [TASKS_EXTENSION]: {} };
  return { ...result, capabilities: { ...capabilities, extensions } };
}

/** The handle in the form of the client's protocol generation. */
export const taskHandle = (task: Task, { mcpReq }: ServerContext): object =>
  mcpReq.envelope ? { resultType: 'task', ...task } : asForeign({ task: toLegacyTask(task) });

const toLegacyTask = ({ taskId, status, statusMessage, createdAt, lastUpdatedAt, ...rest }: Task) => ({
  taskId,
  status,
  ...(statusMessage === undefined ? {} : { statusMessage }),
  createdAt,
  lastUpdatedAt,
  ttl: rest.ttlMs,
  pollInterval: rest.pollIntervalMs,
});

const named = z.looseObject({ taskId: z.string() });
const anyResult = z.looseObject({});

export function addTaskMethods(
  server: Server,
  served: Served,
  admit: (context: ServerContext) => Promise<Principal>,
): void {
  const board = boardOf(served);
  const ownerOf = async (context: ServerContext): Promise<string> => {
    // Tasks were announced to clients of 2025 only where third-party servers may have some.
    if (!context.mcpReq.envelope && !served.foreign)
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
    if (context.mcpReq.envelope && !takesTasks(context)) {
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
      });
    }
    return principalName(await admit(context));
  };
  server.setRequestHandler('tasks/get', { params: named }, async ({ taskId }, context) => {
    const task = board.get(await ownerOf(context), taskId) ?? unknown(taskId);
    return context.mcpReq.envelope ? { ...task } : toLegacyTask(task);
  });
  server.setRequestHandler('tasks/cancel', { params: named }, async ({ taskId }, context) => {
    const owner = await ownerOf(context);
    if (!context.mcpReq.envelope) return toLegacyTask(await cancelLegacy(board, owner, taskId));
    if (!board.cancel(owner, taskId)) unknown(taskId);
    return {};
  });
  // Only a modern client answers with this; one of 2025 is asked while it waits for the result.
  server.setRequestHandler('tasks/update', { params: named }, async ({ taskId }, context) => {
    const owner = await ownerOf(context);
    if (!context.mcpReq.envelope)
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
    if (!board.answer(owner, taskId, (context.mcpReq.inputResponses ?? {}) as JsonObject)) unknown(taskId);
    return {};
  });
  // Both are methods of 2025 alone: the SDK refuses them to a modern client.
  server.setRequestHandler('tasks/list', { params: z.looseObject({}).optional() }, async (_, context) => ({
    tasks: board.list(await ownerOf(context)).map(toLegacyTask),
  }));
  server.setRequestHandler('tasks/result', { params: named }, async ({ taskId }, context) => {
    const owner = await ownerOf(context);
    return resultOf(board, owner, taskId, context);
  });
}

async function cancelLegacy(board: TaskBoard, owner: string, taskId: string): Promise<Task> {
  const task = board.get(owner, taskId) ?? unknown(taskId);
  const cancelled = await board.cancelForGood(owner, taskId);
  if (cancelled) return cancelled;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task is already ${task.status}.`);
}

/** Waits for the end of the task. What it asks on the way is pushed to the client that waits here. */
async function resultOf(
  board: TaskBoard,
  owner: string,
  taskId: string,
  { mcpReq }: ServerContext,
): Promise<Result> {
  const related = { [RELATED_TASK_META_KEY]: { taskId } };
  for (;;) {
    const task = (await board.next(owner, taskId, mcpReq.signal)) ?? unknown(taskId);
    if (isOver(task)) {
      if (task.error) throw new ProtocolError(task.error.code, task.error.message, task.error.data);
      if (!task.result) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The task was cancelled.');
      const { _meta: meta, ...result } = task.result as Result;
      return { ...result, _meta: { ...meta, ...related } };
    }
    for (const [key, request] of Object.entries(task.inputRequests ?? {})) {
      const { method, params } = request as { method: string; params?: JsonObject };
      const meta = { ...(params?._meta as JsonObject | undefined), ...related };
      const answer = await mcpReq.send({ method, params: { ...params, _meta: meta } }, anyResult);
      board.answer(owner, taskId, { [key]: answer as JsonObject });
    }
  }
}

/** Another principal's task and none at all look the same. */
function unknown(taskId: string): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Task ${taskId.slice(0, 80)} not found.`);
}
