import type { JsonObject } from './json.ts';

/**
 * A local stand-in for a remote service, over real HTTP. The composition root starts it, so that a toolkit never
 * imports a server. State is kept in the store: a second process sees what the first one did.
 */
export interface RunningSandbox {
  /** `http://127.0.0.1:PORT`; requests for another host carry it in the `x-sandbox-host` header. */
  readonly url: string;
  /** What a client signs its requests with: user and app tokens, consumer keys. They open nothing else. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Back to the seeded data. */
  reset(): Promise<void>;
  /** The control interface of tests and of the command line: scripted faults, a look at the state. */
  control(command: string, params?: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}
