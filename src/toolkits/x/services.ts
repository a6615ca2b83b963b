import type { z } from 'zod';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { KernelPorts, Log } from '../../contract/ports.ts';
import { type ToolContext, toolFactory } from '../../contract/tool.ts';
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
interface Stance {
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
  stance(): Stance;
  /** The call that takes a done change back, as its tool says; undefined when nothing can. */
  undoOf(tool: string, args: JsonObject, data: JsonValue): Undo | undefined;
}

export const defineXTool = toolFactory<XServices>();

/** Every tool reaches X through here, so that no reply can forget to say which backend gave it. */
export async function reachX(context: ToolContext<Pick<XServices, 'x'>>): Promise<XApi> {
  const x = await context.services.x();
  context.note(sourceOf(x.provider.backend));
  return x;
}

/** What `meta` says about where a reply comes from. */
export const sourceOf = (backend: ProviderInfo['backend']): JsonObject =>
  backend === 'sandbox' ? { provider_backend: backend, sandbox: true } : { provider_backend: backend };
