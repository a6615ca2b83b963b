import { verbatim } from '../catalogue/verbatim.ts';
import { ToolError } from '../contract/errors.ts';
import { SERVER_CATEGORY, type ServerSettings } from '../contract/servers.ts';
import { CHANGE_PROFILES, type Effect, type Profile, READ_PROFILES } from '../contract/tool.ts';
import { defineToolkit, type Toolkit, type ToolkitHost } from '../contract/toolkit.ts';
import { lookup } from '../lib/lookup.ts';
import { WITHOUT_TOOLS } from './definition.ts';
import { offerEntries, policyNameOf, publicName, questionEntries, withOwnNames } from './names.ts';
import type { ServerServices } from './server-tools.ts';
import { type GatewayDb, type Known, readFacts, readSeen } from './store.ts';
import { taskSupport } from './task-support.ts';
import { createGatewayToolkit, GATEWAY } from './trust.ts';
import type { Upstream } from './upstream.ts';
import type { ViewServices } from './views.ts';

/** A toolkit as the inventory takes it; what is known of its tools comes from the pins. */
export interface GatewaySource {
  readonly id: string;
  readonly brings?: readonly string[];
  /** A person trusts at least one definition; until then a server offers nothing at all. */
  readonly trusted?: boolean;
  readonly catalogue: readonly {
    readonly name: string;
    readonly toolkit: string;
    readonly category: string;
    readonly effect: Effect;
    readonly profiles: readonly Profile[];
    readonly policyName?: string | undefined;
    readonly mayTakeLong?: boolean;
  }[];
  load(): Promise<Toolkit>;
}

export interface SourcePorts {
  upstream(host: ToolkitHost, connection?: string): Promise<Upstream>;
  /** Known once the server was started; before that there are no secrets to hide. */
  secrets(): readonly string[];
}

/** For servers that clients wrap: here their tools are known by their pins, and only there they run. */
const onlyWrapped = (name: string): ServerServices => {
  const fail = (): never => {
    throw new ToolError('server_unavailable', `The server ${name} runs only in a client that wraps it.`, {
      effect: 'none',
    });
  };
  return { upstream: { check: async () => {}, ready: fail }, upstreamOf: fail, read: fail };
};

/** One server as a toolkit. Its catalogue comes from the pins; definitions are read when a tool is first needed. */
export function createServerSource(
  db: GatewayDb,
  name: string,
  settings: ServerSettings,
  target: string,
  known: readonly Known[],
  mayTakeLong: boolean,
  ports: SourcePorts | undefined,
): GatewaySource {
  const secrets = ports?.secrets ?? (() => []);
  const effectOf = (tool: string, effect: string): Effect =>
    lookup(settings.effects, tool) ?? (effect as Effect);
  const entry = { toolkit: name, category: SERVER_CATEGORY };
  const trusted = known.some((one) => one.trusted);
  // Rules may name what is still in quarantine; no one can call it.
  const unlisted = known.length === 0 ? [] : [...offerEntries(name), ...questionEntries(name)];
  return {
    id: name,
    brings: [GATEWAY],
    trusted,
    catalogue: [
      ...withOwnNames(name, known)
        .filter(({ tool }) => tool !== WITHOUT_TOOLS.name)
        .map(({ tool, effect: stored, trusted }) => {
          const effect = effectOf(tool, stored);
          const profiles = effect === 'read' ? READ_PROFILES : CHANGE_PROFILES;
          const offered = trusted && ports ? profiles : [];
          return {
            ...entry,
            name: publicName(name, tool),
            effect,
            profiles: offered,
            policyName: policyNameOf(name, tool),
            ...(mayTakeLong ? { mayTakeLong } : {}),
          };
        }),
      ...unlisted.map((one) => ({ toolkit: name, ...one, effect: 'read' as const, profiles: [] })),
    ],
    load: async () => {
      const { createServerTool } = await import('./server-tools.ts');
      const { createOfferTools } = await import('./offers.ts');
      const { createQuestionTools } = await import('./questions.ts');
      const pins = (await readSeen(db, name, target)).filter(({ state }) => state === 'trusted');
      const facts = await readFacts(db, name);
      const trustedPins = pins.map((pin) => ({ ...pin, trusted: true }));
      const callable = withOwnNames(name, trustedPins).filter(({ tool }) => tool !== WITHOUT_TOOLS.name);
      const tools = callable.map((pin) => {
        const tasks = taskSupport(pin.definition, facts?.era.kind, facts?.offers.capabilities);
        const confirmed = { ...pin, tasks, effect: effectOf(pin.tool, pin.effect) };
        return createServerTool(name, settings, confirmed, secrets);
      });
      const besides = [createOfferTools, createQuestionTools].flatMap((create) =>
        create(name, settings, secrets),
      );
      return defineToolkit<ServerServices>({
        id: name,
        title: `Server ${name}`,
        dialect: verbatim,
        target: () => ({
          kind: 'server',
          label: name,
          detail: 'Third-party server',
          environment: settings.environment,
        }),
        tools: [...tools, ...(pins.length > 0 ? besides : [])],
        servedElsewhere: ports === undefined,
        connect: async (host) =>
          ports
            ? {
                upstream: await ports.upstream(host),
                upstreamOf: (connection) => ports.upstream(host, connection),
                // Only a read may be made without a caller.
                read: (tool, args) => {
                  const isRead = tools.some((one) => one.name === tool && one.effect === 'read');
                  if (!isRead) throw new Error(`${tool} is not a trusted read tool of the server ${name}.`);
                  return host.kernel.invoke(tool, args, { kind: 'system', id: 'reconcile' });
                },
              }
            : onlyWrapped(name),
        jobs: ({ upstream }) =>
          settings.prewarm ? [{ name: 'prewarm', run: async () => void (await upstream.ready()) }] : [],
      }) as unknown as Toolkit;
    },
  };
}

export interface OwnPorts extends ViewServices {
  refresh(): Promise<void>;
  now(): Date;
}

/** The toolkit of the gateway itself. */
export function createOwnSource(ports: OwnPorts): GatewaySource {
  const toolkit = createGatewayToolkit(async (host) => ({
    ...ports,
    approvals: host.kernel.approvals,
    artifacts: host.kernel.artifacts,
    telemetry: host.kernel.telemetry,
  }));
  return {
    id: GATEWAY,
    catalogue: toolkit.tools.map(({ name, category, effect, profiles }) => ({
      name,
      toolkit: GATEWAY,
      category,
      effect,
      profiles,
    })),
    load: async () => toolkit as unknown as Toolkit,
  };
}
