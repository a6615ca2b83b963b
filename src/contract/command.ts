import type { Command } from 'commander';
import type { JsonObject } from './json.ts';
import type { Outcome } from './outcome.ts';
import type { Principal } from './principal.ts';
import type { Tool } from './tool.ts';
import type { ToolkitHost } from './toolkit.ts';
import type { TypedParams, ViewData, ViewSpecs } from './view.ts';

/** Options every command has. */
export interface GlobalOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly version?: boolean;
}

/** Shown to the person unchanged: what failed and what to do. Exit code 1, or 2 for a usage error. */
export class CliError extends Error {
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

export interface ActOptions {
  /** The person at the terminal has decided: a call that needs approval is approved immediately, in their name. */
  readonly approve?: boolean;
}

/** A tool as commands name it: the tool itself, so that the type of its data comes along. */
export type NamedTool<O> = Pick<Tool<never, O>, 'name' | 'output'>;

/** The data of a tool. */
export type DataOf<T> = T extends NamedTool<infer O> ? O : never;

export interface Acted<O = unknown> {
  readonly callId: string;
  readonly outcome: Outcome;
  /** What the tool gave; undefined where the outcome is not `ok`. */
  readonly data: O | undefined;
  /** An approved call that could not run is pending again under this number. */
  readonly waits?: number;
  readonly paused?: boolean;
}

/** Sees calls on their way in and out; arguments are for measuring, not for logging. */
export interface CallTrace {
  request(call: { readonly tool: string; readonly client: string | undefined; readonly args: unknown }): void;
  response(call: { readonly callId: string; readonly outcome: Outcome; readonly elapsedMs: number }): void;
}

/** What a toolkit's command may use while the application is open: changes only as calls through the pipeline. */
export interface CommandApp extends ToolkitHost {
  /** The person at the terminal. */
  readonly person: Principal;
  /** The SQLite file; undefined with PostgreSQL. */
  readonly databaseFile: string | undefined;
  /** Makes one tool call as the person, under the same policy as any other. */
  act<O>(tool: NamedTool<O>, args: JsonObject, options?: ActOptions): Promise<Acted<O>>;
  /** Makes a call whose result the command needs; any other outcome ends the command. */
  ask<O>(tool: NamedTool<O>, args: JsonObject): Promise<O>;
  /** Reads one of the toolkit's own views: its spec names what goes in and checks what comes out. */
  view<V extends ViewSpecs, K extends keyof V & string>(
    specs: V,
    name: K,
    params?: TypedParams<V[K]>,
  ): Promise<ViewData<V[K]>>;
  /** The toolkit's own services. */
  services<S>(): Promise<S>;
  /** Prints what became of a call: `done` words the success, the core words everything else. */
  printOutcome<O>(acted: Acted<O>, done: (data: O, notes: JsonObject) => string): void;
  /** Writes an audit entry about something that belongs to no call: a setting, or what a person read or exported. */
  note(kind: 'config' | 'read', extra: JsonObject): Promise<void>;
  /** Makes pending audit entries durable, to read them back. */
  flush(): Promise<void>;
  /** Where programs on this machine reach the server, or would if it ran. */
  serverUrl(): Promise<string>;
  /** Serves only this toolkit's tools on stdio until the client leaves. */
  serveOnStdio(options: { readonly name: string; readonly trace?: CallTrace }): Promise<void>;
}

/** How a toolkit's command reaches the application: it is opened for one command and always closed afterwards. */
export interface CommandHost {
  readonly options: GlobalOptions;
  open<T>(work: (app: CommandApp) => Promise<T>, other?: { readonly databaseFile?: string }): Promise<T>;
}

/** The host for one command, with the options that were given. */
export type HostOf = (command: Command) => CommandHost;

/** One line of `countersign doctor`. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix?: string;
}

/** One line of `countersign status`; in JSON, `data` under the toolkit's ID. */
export interface StatusLine {
  readonly label: string;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a check may read. A database that cannot be opened leaves only the settings. */
export interface CheckHost extends Pick<ToolkitHost, 'section'> {
  readonly app: CommandApp | undefined;
}

/**
 * A toolkit's part of the command line, exported as `commands` from its `commands.ts`. That file is read at every
 * start, so it imports types and the contract only and loads `cli/` when a command runs.
 */
export interface ToolkitCommands {
  /** Place among the toolkits in `countersign --help`, lowest first; without one, last. */
  readonly order?: number;
  add(program: Command, host: HostOf): void;
  /** Asked while the toolkit is enabled. */
  status?(app: CommandApp): Promise<StatusLine>;
  /** Asked while the toolkit is enabled. */
  check?(host: CheckHost): Promise<readonly Finding[]>;
}
