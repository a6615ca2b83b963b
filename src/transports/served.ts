import type { Log } from '../contract/ports.ts';
import type { Principal } from '../contract/principal.ts';
import type { Invoke } from '../kernel/pipeline.ts';
import type { Exposure } from '../registry/exposure.ts';
import type { Modes } from '../render/dialect.ts';

/** What any transport serves: the same tools, resources and prompts, through the same pipeline. */
export interface Served {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  readonly exposure: Exposure;
  readonly invoke: Invoke;
  readonly resources: readonly ServedResource[];
  readonly prompts: readonly ServedPrompt[];
  readonly log: Log;
  /** Signs the state of a question put to a person; shared by all processes on one data directory. */
  readonly stateKey: Uint8Array;
  /** Shows which store is behind it to whoever looks for the server of theirs and has that store too. */
  proveStore(challenge: string): string;
  /** Whether a person may be asked in the client's own program at all. */
  readonly dialogs: boolean;
  /** Whose answer a client's own dialog gives. */
  readonly person: Principal;
  modes(): Modes;
  /** True the first time a nonce is seen, by any process. */
  firstUse(nonce: string): Promise<boolean>;
  /** Who a bearer token belongs to. */
  authenticate(token: string): Promise<Principal | undefined>;
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

export interface ServedPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
  }[];
  text(args: Readonly<Record<string, string>>): string;
}

/** Who is at the other end, as far as the transport itself knows. */
export interface Peer {
  readonly transport: string;
  readonly principal: Principal;
  /** What the peer showed when it connected: asked about again for every request, so that revoking it works at once. */
  readonly token?: string;
  /** Beyond loopback every request must carry an agent's token. */
  readonly needsToken?: boolean;
}
