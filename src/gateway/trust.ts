import { z } from 'zod';
import { ToolError } from '../contract/errors.ts';
import type { JsonObject } from '../contract/json.ts';
import type { ApprovalsPort, ArtifactsPort, TelemetryPort } from '../contract/ports.ts';
import { type Principal, principalName } from '../contract/principal.ts';
import { READ_PROFILES, toolFactory } from '../contract/tool.ts';
import { defineToolkit, type Toolkit } from '../contract/toolkit.ts';
import { showUnseen } from '../lib/unseen.ts';
import { type Pin, readSeen, requestRestart, trust } from './store.ts';
import { gatewayViews, type ViewServices } from './views.ts';

export const GATEWAY = 'gateway';
export const TRUST_TOOL = 'server_trust';
/** In whose name changed definitions are put into the inbox. */
export const GATEWAY_PRINCIPAL: Principal = { kind: 'system', id: 'gateway' };

interface GatewayServices extends ViewServices {
  readonly approvals: ApprovalsPort;
  readonly artifacts: ArtifactsPort;
  /** Who made the call that an artifact belongs to. */
  readonly telemetry: Pick<TelemetryPort, 'hasArtifact'>;
  /** Puts what is trusted now in force in this process. */
  refresh(): Promise<void>;
  now(): Date;
}

const defineGatewayTool = toolFactory<GatewayServices>();

/** Listed for no one: a person calls it at the command line, or approves it in the inbox. */
export const serverTrust = defineGatewayTool({
  name: TRUST_TOOL,
  title: 'Trust tools of a server',
  summary: 'Trust exact tool definitions of a third-party server, each with its effect. Only a person can.',
  effect: 'change',
  reach: 'local',
  category: 'servers',
  profiles: [],
  errors: ['not_found', 'not_allowed'],
  input: z.object({
    server: z.string().min(1).describe('Name of the server.'),
    tools: z
      .array(
        z
          .object({
            name: z.string().min(1).describe('Name the server gives the tool.'),
            hash: z
              .string()
              .regex(/^[0-9a-f]{64}$/)
              .describe('SHA-256 of the definition.'),
            effect: z.enum(['read', 'change', 'destroy']).describe('What the tool does.'),
          })
          .strict(),
      )
      .min(1)
      .describe('The definitions to trust.'),
  }),
  output: z.object({ server: z.string(), trusted: z.int() }),
  async present({ server, tools }, { services }) {
    const where = await services.targetOf(server);
    if (where === undefined) throw unknownServer(server);
    const seen = await readSeen(services.db, server, where);
    const described = (name: string, hash: string): string => {
      const found = seen.find((one) => one.tool === name && one.hash === hash);
      return showUnseen(String(found?.definition.description ?? ''));
    };
    const count = tools.length === 1 ? '1 tool' : `${tools.length} tools`;
    return {
      title: `Trust ${count} of the server ${server}`,
      done: `Trusted ${count} of the server ${server}`,
      act: 'trust',
      kind: 'server',
      gist: tools.map(({ name, effect }) => `${name} (${effect})`).join(', '),
      target: { kind: 'server', label: server, detail: 'Third-party server', environment: 'local' },
      effect: { text: 'Agents may call them', detail: 'Under the policy, by exactly these definitions' },
      undo: { possible: true, text: 'Can be withdrawn', detail: 'With `countersign servers remove`' },
      body: [
        {
          type: 'table',
          title: 'Definitions',
          columns: ['Tool', 'Effect', 'Description'],
          rows: tools.map(({ name, hash, effect }) => [name, effect, described(name, hash)]),
          source: 'server',
        },
      ],
      covers: ['server', 'tools'],
    };
  },
  async run({ server, tools }, { services, principal, approval }) {
    const person = principal.kind === 'person' ? principal : approval?.approver;
    if (person?.kind !== 'person')
      throw new ToolError('not_allowed', 'Only a person can trust the tools of a server.');
    const target = await services.targetOf(server);
    if (target === undefined) throw unknownServer(server);
    const pins: Pin[] = tools.map(({ name, hash, effect }) => ({ tool: name, hash, effect }));
    await trust(services.db, server, target, pins, principalName(person), services.now());
    await services.refresh();
    await withdrawSettled(services.approvals, server, new Set(tools.map(({ name }) => name)));
    return { server, trusted: tools.length };
  },
});

/** Listed for no one, like trusting: a person restarts a server at the command line or on its page. */
export const serverRestart = defineGatewayTool({
  name: 'server_restart',
  title: 'Restart a server',
  summary: 'Restart a third-party server before its next call. Only a person can.',
  effect: 'change',
  reach: 'local',
  category: 'servers',
  profiles: [],
  errors: ['not_found', 'not_allowed'],
  input: z.object({ server: z.string().min(1).describe('Name of the server.') }),
  output: z.object({ server: z.string() }),
  async run({ server }, { services, principal }) {
    if (principal.kind !== 'person')
      throw new ToolError('not_allowed', 'Only a person can restart a server.');
    if ((await services.targetOf(server)) === undefined) throw unknownServer(server);
    await requestRestart(services.db, server, services.now());
    return { server };
  },
});

const unknownServer = (server: string): ToolError =>
  new ToolError('not_found', `No server named ${server} is configured.`);

/**
 * A proposal about tools that were decided on elsewhere would only show an outdated difference. One that another process settles in
 * the same moment is settled.
 */
async function withdrawSettled(approvals: ApprovalsPort, server: string, names: Set<string>): Promise<void> {
  for (const { id, args } of await approvals.list({ tools: [TRUST_TOOL], states: ['pending'], limit: 500 })) {
    const tools = args.tools as { name: string }[];
    if (args.server === server && tools.every(({ name }) => names.has(name)))
      await approvals.withdraw(id, GATEWAY_PRINCIPAL).catch(unlessSettled);
  }
}

const unlessSettled = (error: unknown): void => {
  if (!(error instanceof ToolError) || error.code !== 'approval_state') throw error;
};

const PAGE = 64 * 1024;

const resultRead = defineGatewayTool({
  name: 'gateway_result_read',
  title: 'Read a long result',
  summary:
    'Read the next part of a result that was cut because it is too long. Pass next_offset to continue.',
  effect: 'read',
  reach: 'local',
  category: 'servers',
  profiles: READ_PROFILES,
  errors: ['not_found'],
  input: z.object({
    artifact: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .describe('The artifact that the cut result names.'),
    offset: z.int().min(0).optional().describe('Character to start at; 0 if unset.'),
  }),
  output: z.object({ text: z.string(), total: z.int(), next_offset: z.int().nullable() }),
  async run({ artifact, offset = 0 }, { services, principal }) {
    const owned = principal.kind === 'person' || (await services.telemetry.hasArtifact(principal, artifact));
    const body = owned ? await services.artifacts.read(artifact) : undefined;
    if (!body) throw new ToolError('not_found', 'You have no result with this artifact, or it was erased.');
    const text = Buffer.from(body).toString('utf8');
    const end = Math.min(offset + PAGE, text.length);
    return { text: text.slice(offset, end), total: text.length, next_offset: end < text.length ? end : null };
  },
});

/** What belongs to no single server: trusting definitions, and the rest of long results. */
export const createGatewayToolkit = (
  connect: Toolkit<GatewayServices>['connect'],
): Toolkit<GatewayServices> =>
  defineToolkit<GatewayServices>({
    id: GATEWAY,
    title: 'Gateway',
    tools: [serverTrust, serverRestart, resultRead],
    views: gatewayViews,
    connect,
  });

export const trustArgs = (server: string, pins: readonly Pin[]): JsonObject => ({
  server,
  tools: pins.map(({ tool, hash, effect }) => ({ name: tool, hash, effect })),
});
