import type { LoggingLevel, PriorDiscovery } from '@modelcontextprotocol/client';
import { ToolError } from '../contract/errors.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Log } from '../contract/ports.ts';
import type { ServerSettings } from '../contract/servers.ts';
import type { RemoteLogMessage } from '../contract/tool.ts';
import { type Connection, openConnection, RAW, readOffers, type ServerEvent } from './connection.ts';
import { pinOf } from './definition.ts';
import { isCutOff, isLostConnection, isLostSession, isUnauthorized, toError } from './failures.ts';
import { describeIgnored, rememberListing } from './listing.ts';
import { ServerAuthorization, TokenStore } from './oauth.ts';
import { urisIn } from './offers.ts';
import { paramsFor } from './request-params.ts';
import { maskResult } from './results.ts';
import { hideSecrets, maskable, resolveServer, type SecretStore } from './secrets.ts';
import { ServerLog, writeHealth } from './server-log.ts';
import { type GatewayDb, readFacts } from './store.ts';
import { Subscriptions } from './subscriptions.ts';
import { CallsUnderWay, type UnderWay } from './under-way.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A server that ran at least this long was healthy: its end starts a new count. */
const HEALTHY_MS = 60_000;
/** The protocol generation found is believed this long; an upgraded server would otherwise stay legacy for ever. */
const ERA_MS = 7 * 86_400_000;
const RESTART_CHECK_MS = 1_000;
const PING_MS = 5_000;
/** An HTTP server's error page may be long. */
const MAX_REASON = 500;
/** From the most verbose to the least. */
const LEVELS: readonly LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

export interface UpstreamOptions {
  readonly name: string;
  readonly settings: ServerSettings;
  readonly target: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secrets: SecretStore;
  readonly db: GatewayDb;
  readonly log: Log;
  now(): Date;
  /** Called with every listing, before any call that follows it; gives what the server's log should say of it. */
  onListed(connection: Pick<Connection, 'definitions'>): Promise<string | undefined>;
  /** Announced to clients: the listing is known by then. */
  onEvent(event: ServerEvent): void;
}

export interface RequestOptions extends UnderWay {
  readonly headers?: Readonly<Record<string, string>>;
  onProgress?(progress: { progress: number; total?: number; message?: string }): void;
  /** Only what changes nothing is sent a second time. */
  readonly mayRetry: boolean;
  /** The caller takes a handle in place of the result; so the server may make a task of the call. */
  readonly task?: boolean;
  /** Asked once the server is ready and its listing known; throws to send nothing. */
  readonly before?: (listing: Listing) => void;
}

/** What the server listed last, as clients are shown it. */
export interface Listing {
  /** Name and pin of each tool. */
  readonly tools: ReadonlyMap<string, string>;
  readonly offers: JsonObject;
}

const NOTHING: Listing = { tools: new Map(), offers: {} };
/** A call that the listing refuses has it read again, at most this often. */
const LIST_AGAIN_MS = 1_000;
/** How many URIs from results are remembered for one principal, and for how many. */
const MAX_RETURNED = 5_000;
const MAX_PRINCIPALS = 200;

/** One third-party server: started on first use, restarted with growing pauses, stopped when idle. */
export class Upstream {
  readonly #options: UpstreamOptions;
  readonly #log: ServerLog;
  #connection: Connection | undefined;
  #opening: Promise<Connection> | undefined;
  #startedAt = 0;
  #failures = 0;
  #notBefore = 0;
  readonly #calls = new CallsUnderWay();
  readonly #subscriptions = new Subscriptions();
  #level: LoggingLevel | undefined;
  #authorization: ServerAuthorization | undefined;
  #inFlight = 0;
  #idle: NodeJS.Timeout | undefined;
  #restartCheckedAt = 0;
  #secrets: readonly string[] = [];
  #listing = NOTHING;
  #listedAgainAt = 0;
  readonly #returned = new Map<string, Set<string>>();
  #relisting: Promise<void> = Promise.resolve();
  readonly #announced = new Map<string, ServerEvent>();
  #stopped = false;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#log = new ServerLog(options.dataDir, options.name, () => this.secrets);
  }

  /** Neither running nor about to. */
  get isIdle(): boolean {
    return !this.#connection && !this.#opening && this.#inFlight === 0 && this.#subscriptions.size === 0;
  }

  /** Values that must not leave this process. */
  get secrets(): readonly string[] {
    return this.#authorization ? maskable([...this.#secrets, ...this.#authorization.secrets]) : this.#secrets;
  }

  /** Anything the server says, without the secrets it was given. */
  hide<T>(value: T): T {
    return hideSecrets(value, this.secrets);
  }

  /** Name and pin of each tool that the running server listed last. Empty while it does not run. */
  get live(): ReadonlyMap<string, string> {
    return this.#listing.tools;
  }

  /** Whether a result of this server contained the URI; for one principal, or for any. */
  hasReturned(uri: string, principal?: string): boolean {
    if (principal !== undefined) return this.#returned.get(principal)?.has(uri) === true;
    return [...this.#returned.values()].some((uris) => uris.has(uri));
  }

  noteReturned(result: JsonObject, principal: string): void {
    // As the client is shown them, because that is what it asks for.
    const uris = urisIn(this.hide(result));
    if (uris.length === 0) return;
    const known = this.#returned.get(principal) ?? new Set();
    this.#returned.delete(principal);
    this.#returned.set(principal, known);
    for (const uri of uris) {
      known.delete(uri);
      known.add(uri);
    }
    for (const oldest of known) if (known.size > MAX_RETURNED) known.delete(oldest);
    for (const oldest of this.#returned.keys())
      if (this.#returned.size > MAX_PRINCIPALS) this.#returned.delete(oldest);
  }

  /**
   * Asks before a person is: a running server's listing may already refuse the call. Nothing is started for it, and a
   * restart that a person asked for comes first.
   */
  check(before: (listing: Listing) => void): Promise<void> {
    return this.hold(async () => {
      if (this.#connection) await this.#obeyRestart();
      if (this.#connection) await this.#verify(before);
    });
  }

  /** A listing that refuses is read again first: it may have been a bad one, or a person had the server fixed since. */
  async #verify(before: ((listing: Listing) => void) | undefined): Promise<void> {
    // What the server has just announced must be known before anything is sent to it.
    await this.#relisting;
    try {
      before?.(this.#listing);
    } catch {
      await this.#listAgain();
      before?.(this.#listing);
    }
  }

  #listAgain(): Promise<void> {
    if (Date.now() - this.#listedAgainAt >= LIST_AGAIN_MS) {
      this.#listedAgainAt = Date.now();
      this.#relisting = this.#relisting.then(() => this.#relist());
    }
    return this.#relisting;
  }

  /** Sends one request, starting the server if need be. At most once, unless the caller says that it may be retried. */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    return this.hold(() => this.#request(method, params, options));
  }

  /** Keeps the server from being stopped as idle, or restarted, while the work lasts. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#inFlight += 1;
    clearTimeout(this.#idle);
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
      this.#waitForIdle();
    }
  }

  async #request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    for (let attempt = 0; ; attempt += 1) {
      const connection = await this.ready();
      await this.#verify(options.before);
      try {
        const result = await this.#calls.run(options, this.#mustBeSerial(connection), () =>
          connection.request(method, paramsFor(method, params, connection, options), options),
        );
        this.#failures = 0;
        return result;
      } catch (error) {
        // The kernel knows whether the caller or the deadline ended it.
        if (options.signal?.aborted) throw error;
        if (isLostConnection(error) && this.#connection === connection) this.#lost();
        if (attempt === 0 && options.mayRetry && (isLostConnection(error) || isCutOff(error))) continue;
        if (attempt === 0 && (await this.#hasLostSession(connection, error))) {
          // Refused before it was looked at, so that a change may be sent on a new session.
          await this.#end();
          continue;
        }
        throw await this.toError(error);
      }
    }
  }

  /** A failed request as an error of ours; what the server said is masked like a result. */
  toError(error: unknown): Promise<ToolError> {
    const { name, settings } = this.#options;
    return toError(error, name, (result) => maskResult(this.hide(result), settings.mask));
  }

  /**
   * A server that forgot our session refuses everything on it. One that still answers a ping has looked at the request,
   * whatever its status code says, so a change must not be sent again.
   */
  async #hasLostSession({ era, client }: Connection, error: unknown): Promise<boolean> {
    if (era.kind !== 'legacy' || !isLostSession(error)) return false;
    const ping = client.request({ method: 'ping' }, RAW, { timeout: PING_MS });
    return ping.then(() => false, isLostSession);
  }

  /** A modern server answers with its question; a legacy one pushes it, and it names no call. */
  #mustBeSerial = ({ era }: Connection): boolean =>
    era.kind !== 'modern' && this.#options.settings.may_ask.length > 0;

  async subscribe(uri: string, before: (listing: Listing) => void): Promise<void> {
    const connection = await this.ready();
    await this.#verify(before);
    await this.#subscriptions.add(uri, connection, this.#options.name);
    clearTimeout(this.#idle);
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.#subscriptions.remove(uri, this.#connection);
    this.#waitForIdle();
  }

  /** The most verbose level that a client asked for; a modern server is given each request's own instead. */
  async setLogLevel(level: LoggingLevel): Promise<void> {
    if (this.#level !== undefined && LEVELS.indexOf(level) >= LEVELS.indexOf(this.#level)) return;
    this.#level = level;
    if (this.#connection) await this.#applyLevel(this.#connection);
  }

  async #applyLevel({ client, era }: Connection): Promise<void> {
    if (this.#level === undefined || era.kind === 'modern' || !client.getServerCapabilities()?.logging)
      return;
    const params = { level: this.#level };
    await client.request({ method: 'logging/setLevel', params }, RAW).catch(() => {});
  }

  #onMessage(message: RemoteLogMessage): void {
    const shown = this.hide(message);
    if (this.#calls.passLog(shown)) return;
    this.#log.write(`[${shown.level}] ${JSON.stringify(shown.data)}\n`);
  }

  #onEvent(event: ServerEvent): void {
    if (event.kind === 'updated') {
      this.#options.onEvent(event);
      return;
    }
    const isQueued = this.#announced.size > 0;
    this.#announced.set(event.kind, event);
    // One listing answers all that is announced before it begins, however much that is.
    if (isQueued) return;
    this.#relisting = this.#relisting.then(async () => {
      const events = [...this.#announced.values()];
      this.#announced.clear();
      await this.#relist();
      for (const one of events) this.#options.onEvent(one);
    });
  }

  /** The running server, started if it is not; calls that come together wait for one start. */
  async ready(): Promise<Connection> {
    if (this.#stopped) throw new ToolError('server_unavailable', 'Countersign is stopping.');
    if (this.#connection) await this.#obeyRestart();
    if (this.#connection) return this.#connection;
    this.#opening ??= this.#start().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#opening?.catch(() => {});
    await this.#end();
  }

  async #start(): Promise<Connection> {
    const { name, settings, env, secrets, log } = this.#options;
    const wait = this.#notBefore - Date.now();
    if (wait > 0 && !(await this.#isRestartWanted())) {
      const seconds = Math.ceil(wait / 1000);
      const message = `The server ${name} failed ${this.#failures} times; it is started again in ${seconds} s.`;
      throw new ToolError('server_unavailable', message, { resetAt: new Date(this.#notBefore) });
    }
    const resolved = resolveServer(name, settings, env, secrets);
    this.#secrets = resolved.secrets;
    this.#authorization = this.#storedLogin();
    this.#health('starting');
    this.#startedAt = Date.now();
    try {
      const connection = await this.#open(resolved.settings);
      this.#connection = connection;
      const { definitions, offers, era } = connection;
      await this.#listed({ definitions, offers, era });
      await this.#applyLevel(connection);
      await this.#subscriptions.restore(connection);
      this.#health('ready', connection.pid);
      return connection;
    } catch (error) {
      await this.#end();
      const why = this.hide(error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON);
      this.#failed(why);
      if (error instanceof ToolError) throw error;
      log.warn('A server could not be started', { server: name, error: why });
      const hint = isUnauthorized(error) ? ` Sign in with: countersign servers login ${name}` : '';
      const message = `The server ${name} could not be started or reached.${hint}`;
      throw new ToolError('server_unavailable', message, { cause: new Error(why) });
    }
  }

  #storedLogin(): ServerAuthorization | undefined {
    const { settings, name, dataDir } = this.#options;
    const store = new TokenStore(dataDir);
    if (settings.url === undefined || !store.get(settings.url)) return undefined;
    return new ServerAuthorization(store, name, settings.url);
  }

  /** With the generation found before; if that fails, once more without, and a server that died of the question as legacy. */
  async #open(settings: ServerSettings): Promise<Connection> {
    const open = (prior: PriorDiscovery | undefined): Promise<Connection> =>
      openConnection({
        settings,
        prior,
        authorization: this.#authorization,
        onLog: (text) => this.#log.write(text),
        onAsk: (request) => this.#calls.ask(this.hide(request)),
        onEvent: (event) => this.#onEvent(event),
        onMessage: (message) => this.#onMessage(message),
        onClose: () => this.#lost(),
      });
    const prior = await this.#knownEra();
    if (prior) return open(prior).catch(() => open(undefined));
    const legacy: PriorDiscovery = { kind: 'legacy' };
    return open(undefined).catch((error) => {
      if (settings.command === undefined || !isLostConnection(error)) throw error;
      return open(legacy);
    });
  }

  async #knownEra(): Promise<PriorDiscovery | undefined> {
    const { db, name, target, now } = this.#options;
    const facts = await readFacts(db, name);
    if (facts?.target !== target || now().getTime() - Date.parse(facts.listedAt) > ERA_MS) return undefined;
    return facts.era as unknown as PriorDiscovery;
  }

  async #listed(connection: Pick<Connection, 'definitions' | 'offers' | 'era'>): Promise<void> {
    const { db, name, target, now } = this.#options;
    // Everything it lists is stored and shown.
    const { definitions, offers, era } = this.hide(connection);
    const facts = { era: era as unknown as JsonObject, offers };
    const { kept, ignored } = await rememberListing(db, name, target, definitions, facts, now());
    this.#listing = { tools: new Map(kept.map((one) => [one.name, pinOf(one)])), offers };
    const note = await this.#options.onListed({ definitions: kept });
    for (const line of [ignored > 0 ? describeIgnored(name, ignored) : undefined, note])
      if (line !== undefined) this.#log.write(`[countersign] ${line}\n`);
  }

  async #relist(): Promise<void> {
    const connection = this.#connection;
    if (!connection) return;
    try {
      const offers = await readOffers(connection.client, this.#options.settings.start_seconds * 1000);
      if (this.#connection === connection) await this.#listed({ ...offers, era: connection.era });
    } catch (error) {
      this.#options.log.warn('A server announced a change and could not be listed', {
        server: this.#options.name,
        error: this.hide(error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON),
      });
    }
  }

  #lost(): void {
    this.#connection = undefined;
    this.#listing = NOTHING;
    if (this.#stopped) return;
    if (Date.now() - this.#startedAt > HEALTHY_MS) this.#failures = 0;
    this.#failed('it ended unexpectedly');
  }

  #failed(why: string): void {
    this.#failures += 1;
    const pause = FIRST_PAUSE_MS * 2 ** (this.#failures - 2);
    // The first failure may be chance: the next call tries immediately.
    this.#notBefore = this.#failures < 2 ? 0 : Date.now() + Math.min(pause, LONGEST_PAUSE_MS);
    this.#health('failed', undefined, why);
  }

  /** A person asked for a restart, perhaps in another process. Calls in flight are not cut off. */
  async #obeyRestart(): Promise<void> {
    if (Date.now() - this.#restartCheckedAt < RESTART_CHECK_MS) return;
    this.#restartCheckedAt = Date.now();
    if (this.#inFlight <= 1 && (await this.#isRestartWanted())) await this.#end();
  }

  async #isRestartWanted(): Promise<boolean> {
    const { db, name } = this.#options;
    const wanted = (await readFacts(db, name))?.restartAt;
    return wanted !== undefined && Date.parse(wanted) > this.#startedAt;
  }

  #waitForIdle(): void {
    clearTimeout(this.#idle);
    const { idle_seconds: seconds } = this.#options.settings;
    if (seconds === 0 || this.#inFlight > 0 || this.#subscriptions.size > 0 || !this.#connection) return;
    this.#idle = setTimeout(() => void (this.#inFlight === 0 && this.#end()), seconds * 1000);
    this.#idle.unref();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const connection = this.#connection;
    this.#connection = undefined;
    // The next start lists it: what this one listed must not refuse calls until then.
    this.#listing = NOTHING;
    writeHealth(this.#options.dataDir, this.#options.name, undefined);
    await connection?.close();
  }

  #health(state: 'starting' | 'ready' | 'failed', pid?: number, error?: string): void {
    const { dataDir, name, now } = this.#options;
    writeHealth(dataDir, name, { state, pid: pid ?? null, since: now().toISOString(), error: error ?? null });
  }
}
