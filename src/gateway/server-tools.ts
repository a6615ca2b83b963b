import { ToolError } from '../contract/errors.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Outcome } from '../contract/outcome.ts';
import { principalName } from '../contract/principal.ts';
import { SERVER_CATEGORY, type ServerSettings } from '../contract/servers.ts';
import {
  CHANGE_PROFILES,
  isChange,
  READ_PROFILES,
  type ReconcileContext,
  type Tool,
  type ToolContext,
} from '../contract/tool.ts';
import { lookup } from '../lib/lookup.ts';
import { paramHeaders } from '../lib/param-headers.ts';
import { deadlineOf, requestWithAnswers } from './asking.ts';
import type { Definition } from './definition.ts';
import { soundsLikeMoney } from './effects.ts';
import { policyNameOf, publicName } from './names.ts';
import { governedAsk } from './questions.ts';
import { reconcileBy } from './reconcile.ts';
import { finishResult, throwIfError } from './results.ts';
import { anyResult, jsonSchema, undeclared } from './schema.ts';
import { hideSecrets } from './secrets.ts';
import type { Pin } from './store.ts';
import { TASK_MS, type taskSupport } from './task-support.ts';
import { findTask, followTask } from './tasks.ts';
import type { Listing, Upstream } from './upstream.ts';

export interface ServerServices {
  /** Shared by all clients; where each has its own, it only lists. */
  readonly upstream: Pick<Upstream, 'check' | 'ready'>;
  /** The one that serves this connection. */
  upstreamOf(connection: string | undefined): Promise<Upstream>;
  /** Enters the pipeline, to look for the effect of an interrupted change. */
  read(tool: string, args: JsonObject): Promise<Outcome>;
}

export interface ServerTool extends Pin {
  readonly definition: Definition;
  readonly tasks: ReturnType<typeof taskSupport>;
}

/** A trusted tool of a third-party server. It runs through the pipeline like any other; only `run` crosses the border. */
export function createServerTool(
  server: string,
  settings: ServerSettings,
  pin: ServerTool,
  /** Known once the server was started; before that there are no secrets to hide. */
  secrets: () => readonly string[],
): Tool<ServerServices> {
  const { definition, effect, hash } = pin;
  const inputSchema = definition.inputSchema as JsonObject;
  const name = publicName(server, pin.tool);
  const reconcile = lookup(settings.reconcile, pin.tool);
  const verify = ({ tools }: Listing): void => checkPin(server, pin.tool, hash, tools);
  return {
    name,
    title: titleOf(definition),
    summary: typeof definition.description === 'string' ? definition.description : '',
    effect,
    reach: 'network',
    category: SERVER_CATEGORY,
    profiles: effect === 'read' ? READ_PROFILES : CHANGE_PROFILES,
    policyName: policyNameOf(server, pin.tool),
    errors: ['definition_changed', 'server_unavailable', 'server_error'],
    input: jsonSchema(inputSchema),
    output: anyResult(definition.outputSchema as JsonObject | undefined),
    asksClient: settings.may_ask.length > 0,
    definition,
    deadlineMs: pin.tasks === 'never' ? deadlineOf(settings) : (deadlineOf(settings) ?? TASK_MS),
    ...(pin.tasks === 'never' ? {} : { mayTakeLong: true, remoteTasks: true }),
    forEvidence: (part) => hideSecrets(part, secrets()),
    ...(effect !== 'read' && soundsLikeMoney(definition) ? { movesMoney: true } : {}),
    risks: (args) => [
      ...undeclared(inputSchema, args).map(
        (one) => `Argument ${JSON.stringify(one)} is not declared by the tool`,
      ),
    ],
    check: (_args, { upstream }) => upstream.check(verify),
    ...(reconcile && isChange(effect)
      ? {
          reconcile: (args: JsonObject, { services }: ReconcileContext<ServerServices>) =>
            reconcileBy(reconcile, args, (one, given) => services.read(publicName(server, one), given)),
        }
      : {}),
    async run(args, context) {
      const upstream = await context.services.upstreamOf(context.connection);
      const ask = governedAsk(server, settings, context);
      const options = { principal: principalName(context.principal), signal: context.signal };
      const followHere = (handle: JsonObject): Promise<JsonObject> => {
        context.task?.begin();
        context.evidence({ server_task: String(handle.taskId).slice(0, 200) });
        const onStatus = (text: string): void => context.progress(text);
        return upstream.hold(() => followTask(upstream, handle, { server, ask, options, onStatus }));
      };
      const params = { name: pin.tool, arguments: args, ...metaOf(context) };
      const answer = await requestWithAnswers(upstream, 'tools/call', params, ask, {
        ...options,
        onLog: context.log,
        mayRetry: effect === 'read',
        task: pin.tasks === 'required' || (pin.tasks === 'possible' && context.task !== undefined),
        before: verify,
        headers: settings.url === undefined ? undefined : paramHeaders(inputSchema, args),
        onProgress: ({ progress, total, message }) =>
          context.progress(upstream.hide(message ?? ''), progress, total),
      });
      const handle = findTask(answer);
      const result = handle ? await followHere(handle) : answer;
      upstream.noteReturned(result, options.principal);
      const finished = await finishResult(result, settings, upstream.secrets, context);
      throwIfError(finished, server, pin.tool);
      return finished;
    },
  };
}

/** What the caller's own request carried in addition to its arguments, such as trace context. */
const metaOf = ({ meta }: ToolContext<unknown>): JsonObject =>
  meta === undefined || Object.keys(meta).length === 0 ? {} : { _meta: meta };

const titleOf = ({ title, annotations, name }: Definition): string => {
  const hints = annotations as JsonObject | undefined;
  for (const text of [title, hints?.title]) if (typeof text === 'string' && text) return text;
  return name;
};

/** Asked with the listing of the running server: what a person trusted is exactly what is called. */
function checkPin(server: string, tool: string, hash: string, live: ReadonlyMap<string, string>): void {
  const now = live.get(tool);
  if (now === hash) return;
  if (now === undefined)
    throw new ToolError('not_found', `The server ${server} no longer offers ${tool}.`, {
      detail: { server, tool },
    });
  throw new ToolError(
    'definition_changed',
    `The server ${server} changed the definition of ${tool} after it was trusted. The call was not sent.`,
    { detail: { server, tool, trusted: hash, now } },
  );
}
