import type { Kysely } from 'kysely';
import type { z } from 'zod';
import type { ConfigSection } from './config.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Approval, KernelPorts, Log } from './ports.ts';
import type { Principal } from './principal.ts';
import type { RunningSandbox } from './sandbox.ts';
import type { Tool } from './tool.ts';

const DIALECTS = ['tuitbot', 'toolhub', 'qualcoder', 'plain'] as const;
export type Dialect = (typeof DIALECTS)[number];

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
  /** Starts (or joins) the local stand-in of a remote service; absent where the host offers none. */
  sandbox?(name: 'x'): Promise<RunningSandbox>;
  now(): Date;
}

/** Long-running work of `countersign up` (scheduler, loops). Stops when the signal fires. */
export interface Job {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/** A named read-only query for people: web rooms and commands. Changes always go through a tool. */
export type View<S> = (
  params: JsonObject,
  context: { readonly services: S; readonly person: Principal },
) => Promise<JsonValue>;

export interface Toolkit<S = unknown> {
  readonly id: string;
  readonly title: string;
  readonly dialect: Dialect;
  /** Toolkits that come along whenever this one is listed. */
  readonly brings?: readonly string[];
  /** It hands other toolkits' tools to a model: they are loaded before it connects. */
  readonly usesTools?: boolean;
  readonly tools: readonly Tool<S>[];
  readonly views?: Readonly<Record<string, View<S>>>;
  /** Opens connections; called once, on the first call that needs it. */
  connect(host: ToolkitHost): Promise<S>;
  close?(services: S): Promise<void>;
  /**
   * What an agent is told of words that stand on an approval of this kit, whoever wrote them: its summary and reason,
   * and what a person said when they decided.
   */
  tellAgent?(words: string, approval: Approval, services: S): Promise<string>;
  jobs?(services: S, host: ToolkitHost): readonly Job[];
}

export const defineToolkit = <S>(toolkit: Toolkit<S>): Toolkit<S> => toolkit;
