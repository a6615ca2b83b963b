import type { z } from 'zod';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { KernelPorts, Log } from '../../contract/ports.ts';
import type { Principal } from '../../contract/principal.ts';
import { type Rollback, type ToolContext, toolFactory } from '../../contract/tool.ts';
import type { ProviderInfo, XApi } from './client/api.ts';
import type * as config from './config.ts';
import type { Writer } from './content/writer.ts';
import type { Safety } from './growth/safety.ts';
import type { GrowthStore } from './growth/store.ts';

type Values<S extends { schema: z.ZodObject }> = z.output<S['schema']>;

export interface XSettings {
  readonly xApi: Values<typeof config.xApi>;
  readonly business: Values<typeof config.business>;
  readonly scoring: Values<typeof config.scoring>;
  readonly limits: Values<typeof config.limits>;
  readonly intervals: Values<typeof config.intervals>;
  readonly llm: Values<typeof config.llm>;
  readonly targets: Values<typeof config.targets>;
  readonly schedule: Values<typeof config.schedule>;
  readonly circuitBreaker: Values<typeof config.circuitBreaker>;
}

/** The mode in force and whether every change asks first. */
interface OperatingMode {
  readonly mode: 'autopilot' | 'composer';
  readonly approvalMode: boolean;
}

interface Undo {
  readonly tool: string;
  readonly args: JsonObject;
}

/** What tools of toolkit x may use. */
export interface XServices {
  /** Opened by the first call that needs X: a look at the configuration starts no sandbox. */
  x(): Promise<XApi>;
  readonly settings: XSettings;
  readonly kernel: KernelPorts;
  readonly log: Log;
  /** What was posted, found, drafted and scheduled. */
  readonly growth: GrowthStore;
  readonly safety: Safety;
  readonly writer: Writer;
  /** Absolute folders media may be read from. */
  readonly mediaFolders: readonly string[];
  now(): Date;
  operatingMode(): OperatingMode;
  /** The call that takes a done change back, as its tool says; undefined when nothing can. */
  undoOf(tool: string, args: JsonObject, data: JsonValue): Undo | undefined;
}

const define = toolFactory<XServices>();

/** A tool that acts on the account says in the reply's meta how to undo it, exactly as its `rollback` does. */
export const defineXTool: typeof define = (spec) => {
  const tool = define(spec);
  const { rollback, requires, run } = tool;
  if (!rollback || !requires?.userAuth) return tool;
  return {
    ...tool,
    async run(args, context) {
      const data = await run(args, context);
      noteUndo(context, rollback(args, data, context.callId));
      return data;
    },
  };
};

export function noteUndo(context: Pick<ToolContext<unknown>, 'note'>, undo: Rollback | undefined): void {
  context.note({
    rollback: undo
      ? {
          reversible: true,
          undo_tool: undo.tool,
          undo_params: undo.args,
          ...(undo.first ? { note: 'One call per part.' } : {}),
        }
      : { reversible: false },
  });
}

/** Every tool reaches X through here, so that no reply can forget to say which backend gave it. */
export async function reachX(context: ToolContext<Pick<XServices, 'x'>>): Promise<XApi> {
  const x = await context.services.x();
  context.note(sourceOf(x.provider.backend));
  return x;
}

/** What `meta` says about where a reply comes from. */
export const sourceOf = (backend: ProviderInfo['backend']): JsonObject =>
  backend === 'sandbox' ? { provider_backend: backend, sandbox: true } : { provider_backend: backend };

/** Each part of the growth engine acts under its own name, so that rules and the log can tell them apart. */
export const SCHEDULER: Principal = { kind: 'system', id: 'scheduler' };
export const DISCOVERY: Principal = { kind: 'system', id: 'discovery' };
export const MENTIONS: Principal = { kind: 'system', id: 'mentions' };
export const TARGETS: Principal = { kind: 'system', id: 'targets' };
export const CONTENT: Principal = { kind: 'system', id: 'content' };
export const THREADS: Principal = { kind: 'system', id: 'threads' };
export const ANALYTICS: Principal = { kind: 'system', id: 'analytics' };

export const LOOPS: readonly Principal[] = [
  SCHEDULER,
  DISCOVERY,
  MENTIONS,
  TARGETS,
  CONTENT,
  THREADS,
  ANALYTICS,
];
