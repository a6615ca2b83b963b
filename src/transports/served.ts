import type { LoggingLevel } from '@modelcontextprotocol/server';
import type { Exposure } from '../catalogue/exposure.ts';
import type { Modes } from '../contract/dialect.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Log } from '../contract/ports.ts';
import type { Principal } from '../contract/principal.ts';
import type { BoundTool, Prompt } from '../contract/toolkit.ts';
import type { Invoke } from '../kernel/call/pipeline.ts';

/** What any transport serves: the same tools, resources and prompts, through the same pipeline. */
export interface Served {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  readonly exposure: Exposure;
  readonly invoke: Invoke;
  readonly resources: readonly ServedResource[];
  readonly prompts: readonly Prompt[];
  /** Resources and prompts of third-party servers; undefined where there is none. */
  readonly foreign?: ServedForeign;
  /** Set where what is offered can change while serving; the listener is called for each change until the returned function is called. */
  watch?(listener: (change: ServedChange) => void): () => void;
  readonly log: Log;
  readonly shares: Shares;
  /** Signs the state of a question put to a person; shared by all processes on one data directory. */
  readonly stateKey: Uint8Array;
  /** Shows which store is behind it to a process that looks for its server and has that store too. */
  proveStore(challenge: string): string;
  /** Whether a person may be asked in the client's own program at all. */
  readonly dialogs: boolean;
  /** Whose answer a client's own dialog gives. */
  readonly person: Principal;
  modes(): Modes;
  /** True the first time a nonce is seen, by any process. */
  firstUse(nonce: string): Promise<boolean>;
  /** What is well and what is not; looking never fails. */
  health(): Promise<JsonObject>;
  /** Who a bearer token belongs to. */
  authenticate(token: string): Promise<Principal | undefined>;
}

/** How much of a server one agent, or all clients together, may occupy. */
export interface Shares {
  /** Sessions over HTTP that one agent may have open. */
  readonly sessions: number;
  /** Tasks of one agent that may be working. */
  readonly tasks: number;
  /** Connections that a listener accepts. */
  readonly connections: number;
  /** A TCP connection without traffic and without a running call is closed after this time. */
  readonly idleMs: number;
}
/** A list that is another now, or a resource that a client follows. */
export type ServedChange =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  | { readonly kind: 'updated'; readonly uri: string };

export type ForeignMethod =
  | 'resources/read'
  | 'resources/subscribe'
  | 'resources/unsubscribe'
  | 'prompts/get'
  | 'completion/complete';

/** What third-party servers offer beyond tools. Listing starts none of them; a request is a read like any other. */
export interface ServedForeign {
  list(): Promise<{
    readonly resources: JsonObject[];
    readonly templates: JsonObject[];
    readonly prompts: JsonObject[];
  }>;
  /** The unlisted tool that stands for the request, or undefined when it is no server's. */
  find(
    method: ForeignMethod,
    params: JsonObject,
  ): Promise<{ readonly bound: BoundTool; readonly args: JsonObject } | undefined>;
  /** A client wants log messages from this level on. */
  setLogLevel(level: LoggingLevel): Promise<void>;
}

export interface ServedResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  read(reader: Reader): Promise<string>;
}

/** Who reads a resource, for what they may see and for the record. */
export interface Reader {
  readonly principal: Principal;
  readonly transport: string;
}

/** Who is at the other end, as far as the transport itself knows. */
export interface Peer {
  readonly transport: string;
  /** Resolved by the transport, once per request. */
  readonly principal?: Principal;
  /** What the peer showed when it connected: asked about again for every request, so revoking it works immediately. */
  readonly token?: string;
  /** Names a connection that lasts; undefined where every request stands alone. */
  readonly connection?: string;
  /** Beyond loopback every request must carry an agent's token. */
  readonly needsToken?: boolean;
  /** Called with the principal of each request, once it was resolved. */
  onIdentified?(principal: Principal): void;
}
