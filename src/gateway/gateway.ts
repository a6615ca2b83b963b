import type { LoggingLevel } from '@modelcontextprotocol/client';
import type { Log } from '../contract/ports.ts';
import { type ServerSettings, serverFields } from '../contract/servers.ts';
import type { ToolkitHost } from '../contract/toolkit.ts';
import { lookup } from '../lib/lookup.ts';
import type { ServerEvent } from './connection.ts';
import type { Offers, ServerOffers } from './offers.ts';
import { describeTooOften, ProposalBudget, proposeChanges } from './proposals.ts';
import { SecretStore } from './secrets.ts';
import { createOwnSource, createServerSource, type GatewaySource } from './sources.ts';
import {
  type GatewayDb,
  type Known,
  listServerNames,
  readFacts,
  readKnown,
  readSeen,
  readTaskServers,
  targetOf,
} from './store.ts';
import type { Upstream } from './upstream.ts';

/** What a wrapped server is set to; its command is known to its client alone. */
const WRAPPED = serverFields.parse({ command: 'countersign wrap' });

/** How often a process looks whether a person trusted something in another one. */
const FOLLOW_MS = 2_000;

export interface GatewayOptions {
  readonly servers: Readonly<Record<string, ServerSettings>>;
  readonly db: GatewayDb;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  now(): Date;
}

/** All third-party servers of this process. Nothing is started before a call needs it. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #upstreams = new Map<string, Upstream>();
  readonly #secrets: SecretStore;
  readonly #levels = new Map<string, LoggingLevel>();
  readonly #budget = new ProposalBudget();
  #stamp = '';
  #refreshed: Promise<void> = Promise.resolve();
  #sources: readonly GatewaySource[] = [];
  #replace: (sources: readonly GatewaySource[]) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners = new Set<(event: ServerEvent) => void>();
  /** False while a person looks at a server: what they are shown need not wait in the inbox as well. */
  proposing = true;

  private constructor(options: GatewayOptions) {
    this.#options = options;
    this.#secrets = new SecretStore(options.dataDir);
  }

  static async open(options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(options);
    await gateway.refresh();
    return gateway;
  }

  get sources(): readonly GatewaySource[] {
    return this.#sources;
  }

  /** Notifies the inventory when other definitions are trusted than before, also by another process. */
  follow(replace: (sources: readonly GatewaySource[]) => void): void {
    this.#replace = replace;
    this.#timer = setInterval(() => void this.refresh().catch(() => {}), FOLLOW_MS);
    this.#timer.unref();
  }

  /** One after the other, so that the last one to finish has read last. */
  refresh(): Promise<void> {
    const turn = this.#refreshed.then(() => this.#read());
    this.#refreshed = turn.catch(() => {});
    return turn;
  }

  async #read(): Promise<void> {
    const known = await readKnown(this.#options.db);
    const stamp = JSON.stringify(known);
    if (stamp === this.#stamp) return;
    const { db, now, dataDir, servers: settings } = this.#options;
    const withTasks = await readTaskServers(db);
    const servers = Object.entries(this.#options.servers).map(([name, settings]) => {
      const target = targetOf(settings);
      const mine = known.filter((one) => one.server === name && one.target === target);
      return createServerSource(db, name, settings, target, mine, withTasks.has(name), {
        upstream: (host, connection) => this.upstream(name, host, connection),
        secrets: () => [...new Set(this.#of(name).flatMap((one) => one.secrets))],
      });
    });
    const own = {
      db,
      now,
      dataDir,
      servers: settings,
      targetOf: (name: string) => this.targetOf(name),
      refresh: () => this.refresh(),
    };
    this.#sources = [createOwnSource(own), ...servers, ...(await this.#wrapped(known))];
    this.#replace(this.#sources);
    // Only now: what failed on the way is read again.
    this.#stamp = stamp;
  }

  /** Servers that clients wrap are in no configuration: people decide about their calls here, and clients run them. */
  async #wrapped(known: readonly Known[]): Promise<GatewaySource[]> {
    const { db } = this.#options;
    const names = (await listServerNames(db)).filter((name) => !this.#settings(name));
    const sources = names.map(async (name) => {
      const target = (await readFacts(db, name))?.target ?? '';
      const mine = known.filter((one) => one.server === name && one.target === target);
      return createServerSource(db, name, WRAPPED, target, mine, false, undefined);
    });
    return Promise.all(sources);
  }

  /** Notifies of what servers announce, but not of tools: those change here when a person trusts them. */
  watch(listener: (event: ServerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** False where people trusted several programs under one name: an approval does not say for which of them it is. */
  async standsForOne(name: string): Promise<boolean> {
    const trusted = (await readKnown(this.#options.db)).filter((one) => one.server === name && one.trusted);
    return new Set(trusted.map(({ target }) => target)).size === 1;
  }

  /** What the name stands for: the configured program or address, or the one that was listed last (`wrap`). */
  async targetOf(name: string): Promise<string | undefined> {
    const settings = this.#settings(name);
    return settings ? targetOf(settings) : (await readFacts(this.#options.db, name))?.target;
  }

  /** The server's connection, made on first use and kept for the life of the process. */
  async upstream(name: string, host?: ToolkitHost, connection?: string): Promise<Upstream> {
    const settings = this.#settings(name);
    if (!settings) throw new Error(`No server named ${name} is configured.`);
    const own = settings.isolation === 'per-client' && connection !== undefined;
    // A name has no spaces, so that no connection can pass for another server.
    const key = own ? `${name} ${connection}` : name;
    const known = this.#upstreams.get(key);
    if (known) return known;
    // The client side of the protocol is a good part of what there is to load; a listing does without.
    const { Upstream } = await import('./upstream.ts');
    const since = this.#upstreams.get(key);
    if (since) return since;
    for (const [other, one] of this.#upstreams)
      if (other.startsWith(`${name} `) && one.isIdle) this.#upstreams.delete(other);
    const { db, dataDir, env, log, now } = this.#options;
    const target = targetOf(settings);
    const made = new Upstream({
      name,
      settings,
      target,
      dataDir,
      env,
      secrets: this.#secrets,
      db,
      log,
      now,
      onEvent: (event) => {
        for (const listener of this.#listeners) listener(event);
      },
      onListed: async ({ definitions }) => {
        await this.refresh();
        if (!this.proposing || !host) return undefined;
        const seen = await readSeen(db, name, target);
        const budget = () => this.#budget.take(name, now());
        return (await proposeChanges(name, definitions, seen, host.kernel.approvals, budget))
          ? undefined
          : describeTooOften(name);
      },
    });
    this.#upstreams.set(key, made);
    const level = this.#levels.get(name);
    if (level !== undefined) await made.setLogLevel(level);
    return made;
  }

  /** Resources and prompts of these servers as they were listed last. One in quarantine offers nothing. */
  async offers(names: readonly string[], ownNames = false): Promise<Offers> {
    const { Offers } = await import('./offers.ts');
    const found: ServerOffers[] = [];
    for (const server of names) {
      const source = this.#sources.find(({ id }) => id === server && this.#settings(id));
      const facts = source?.trusted ? await readFacts(this.#options.db, server) : undefined;
      if (!facts) continue;
      const hasReturned = (uri: string): boolean => this.#of(server).some((one) => one.hasReturned(uri));
      found.push({ server, offers: facts.offers, hasReturned });
    }
    return new Offers(found, ownNames);
  }

  /** For servers that run now or are started later; a listing starts none. */
  async setLogLevel(names: readonly string[], level: LoggingLevel): Promise<void> {
    for (const name of names) {
      if (!this.#settings(name)) continue;
      this.#levels.set(name, level);
      for (const upstream of this.#of(name)) await upstream.setLogLevel(level);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#upstreams.values()].map((upstream) => upstream.stop()));
  }

  /** The one that is shared, and those of single clients. */
  #of(name: string): Upstream[] {
    const mine = ([key]: readonly [string, Upstream]): boolean => key === name || key.startsWith(`${name} `);
    return [...this.#upstreams].filter(mine).map(([, upstream]) => upstream);
  }

  #settings(name: string): ServerSettings | undefined {
    const { servers } = this.#options;
    return lookup(servers, name);
  }
}
