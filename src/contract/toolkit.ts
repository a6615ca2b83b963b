import type { Kysely } from 'kysely';
import type { z } from 'zod';
import type { ConfigSection } from './config.ts';
import type { Dialect } from './dialect.ts';
import type { ToolError } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { Approval, KernelPorts, Log } from './ports.ts';
import type { PresentationTarget } from './presentation.ts';
import type { Tool } from './tool.ts';
import type { View } from './view.ts';

/** What a toolkit is given when it connects. */
export interface ToolkitHost {
  /** The parsed values of one of the toolkit's own configuration tables. */
  section<T extends z.ZodObject>(section: ConfigSection<T>): z.output<T>;
  /** `mode` and `approval_mode` as they are in force. */
  readonly mode: 'autopilot' | 'composer';
  readonly approvalMode: boolean;
  /** Where the toolkit may keep files. */
  readonly dataDir: string;
  readonly engine: 'sqlite' | 'postgres';
  /** The one database; the type parameter names the toolkit's own tables. */
  db<T>(): Kysely<T>;
  readonly kernel: KernelPorts;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  now(): Date;
}

/** Long-running work of `countersign up` (scheduler, loops). Stops when the signal fires. */
export interface Job {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/** A common job that a person starts from a client's menu. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
  }[];
  /** Every tool that it mentions: a session without one of them is not offered the prompt. */
  readonly tools: readonly string[];
  text(args: Readonly<Record<string, string>>): string;
}

export interface Toolkit<S = unknown> {
  readonly id: string;
  readonly title: string;
  /** How its document shapes a reply; without one, plain MCP content. */
  readonly dialect?: Dialect;
  /** Place among the toolkits that are enabled by default; without one it is not. */
  readonly rank?: number;
  /** Names of agents that only this toolkit may act as. */
  readonly actsAs?: readonly string[];
  /** Environment variable with a TCP address for `countersign up` and `mcp serve`, where set-ups of this toolkit name one. */
  readonly listenEnv?: string;
  /** Toolkits that come along whenever this one is listed. */
  readonly brings?: readonly string[];
  /** It hands other toolkits' tools to a model: they are loaded before it connects. */
  readonly usesTools?: boolean;
  /** Only another process can run its tools; what a person approves here is handed over to it. */
  readonly servedElsewhere?: boolean;
  readonly tools: readonly Tool<S>[];
  readonly views?: Readonly<Record<string, View<S>>>;
  /** Opens connections; called once, on the first call that needs it. */
  connect(host: ToolkitHost): Promise<S>;
  close?(services: S): Promise<void>;
  /**
   * What an agent may see of the words on an approval of this kit, no matter who wrote them: its summary and reason,
   * and what a person said when they decided.
   */
  redactForAgent?(words: string, approval: Approval, services: S): Promise<string>;
  /** What a call is about beyond its arguments, such as the open project: part of the context of its approval. */
  callContext?(services: S): Promise<JsonObject>;
  /** Why an approved call could not be made at present; the approval then stays pending. */
  obstacle?(approval: Approval, services: S): Promise<Obstacle | undefined>;
  /** Where a call of this kit acts, for tools that do not say it themselves: the account, repository, project or server. */
  target?(
    services: S,
    args: JsonObject,
    signal: AbortSignal,
  ): Promise<PresentationTarget> | PresentationTarget;
  jobs?(services: S, host: ToolkitHost): readonly Job[];
}

export interface Obstacle {
  readonly error: ToolError;
  /** The call of the deciding person that removes it. */
  readonly remedy?: { readonly tool: string; readonly args: JsonObject };
}

export const defineToolkit = <S>(toolkit: Toolkit<S>): Toolkit<S> => toolkit;

/** A tool with the toolkit it belongs to; `services` connects the toolkit on first use. */
export interface BoundTool {
  readonly tool: Tool;
  readonly toolkit: Pick<
    Toolkit,
    'id' | 'redactForAgent' | 'target' | 'callContext' | 'obstacle' | 'servedElsewhere'
  > & {
    readonly dialect: Dialect;
    readonly title?: string;
  };
  services(): Promise<unknown>;
}
