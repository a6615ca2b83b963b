import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { READ_PROFILES, type ToolContext } from '../../../contract/tool.ts';
import { describeDatabaseError } from '../../../lib/database-error.ts';
import { isObject } from '../../../lib/is-object.ts';
import type { AccessInfo, ProviderInfo } from '../client/api.ts';
import { defineXTool, reachX, sourceOf, type XServices } from '../services.ts';

/** Words for a part that does not work, in tools that always answer. Remote text stays in the log. */
export function reasonOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof ToolError) return { code: error.code, message: error.message };
  const problem = describeDatabaseError(error);
  return problem === undefined
    ? { code: 'internal', message: 'Failed; details are in the server log.' }
    : { code: 'db_error', message: problem };
}

const part = z.looseObject({ status: z.string() });

export const healthCheck = defineXTool({
  name: 'health_check',
  title: 'Check health',
  summary: 'Health of the server, its database, the X provider and the language model.',
  effect: 'read',
  reach: 'network',
  category: 'health',
  profiles: READ_PROFILES,
  errors: [],
  requires: { db: true },
  alwaysAnswers: true,
  input: z.object({}),
  output: z.object({ status: z.enum(['ok', 'degraded']), server: part, x: part, llm: part }),
  async run(_args, context) {
    const { services } = context;
    const [server, x] = await Promise.all([serverPart(services), xPart(context)]);
    const { provider, model } = services.settings.llm;
    const llm = provider ? { status: 'ok', provider, model } : { status: 'not_configured' };
    // A model is optional: without one nothing is broken.
    const ok = server.status === 'ok' && x.status !== 'degraded';
    return { status: ok ? ('ok' as const) : ('degraded' as const), server, x, llm };
  },
});

type Part = z.input<typeof part>;

async function serverPart(services: XServices): Promise<Part> {
  try {
    const checked = await services.kernel.health.check();
    return { status: 'ok', ...checked };
  } catch (error) {
    return { status: 'degraded', error: reasonOf(error) };
  }
}

async function xPart(context: ToolContext<XServices>): Promise<Part> {
  try {
    const x = await reachX(context);
    const { backend } = x.provider;
    // No one is signed in there, so that there is no account to ask for; a page read as a test would be noticed at X.
    if (backend === 'scraper') return { status: 'not_checked', backend };
    const me = await x.me({ signal: context.signal, callId: context.callId });
    return { status: 'ok', backend, username: me.username };
  } catch (error) {
    return { status: 'degraded', error: reasonOf(error) };
  }
}

const NO_ACCESS: AccessInfo = {
  tier: 'Unknown',
  can_reply: false,
  can_post: false,
  can_search: false,
  can_read_mentions: false,
  can_use_ads: false,
  can_use_app_only: false,
  granted_scopes: [],
  missing_scopes: [],
  token_expires_at: undefined,
};

export const getCapabilities = defineXTool({
  name: 'get_capabilities',
  title: 'Get capabilities',
  summary: 'API tier, what the account may do, and the active provider.',
  effect: 'read',
  reach: 'network',
  category: 'meta',
  profiles: READ_PROFILES,
  errors: [],
  alwaysAnswers: true,
  input: z.object({}),
  output: z.object({
    tier: z.string(),
    can_reply: z.boolean(),
    can_post: z.boolean(),
    can_search: z.boolean(),
    can_read_mentions: z.boolean(),
    can_use_ads: z.boolean(),
    can_use_app_only: z.boolean(),
    granted_scopes: z.array(z.string()),
    missing_scopes: z.array(z.string()),
    token_expires_at: z.string().nullable(),
    mode: z.string(),
    approval_mode: z.boolean(),
    llm_configured: z.boolean(),
    provider: z.object({
      backend: z.string(),
      mutations_available: z.boolean(),
      risk_level: z.string(),
      data_confidence: z.string(),
      unsupported_methods: z.array(z.string()),
      note: z.string(),
    }),
    problems: z.array(z.object({ code: z.string(), message: z.string() })),
  }),
  async run(_args, { services, signal, callId, note }) {
    const { provider, access, problems } = await look(services, { signal, callId });
    note(sourceOf(provider.backend));
    const { mode, approvalMode } = services.operatingMode();
    return {
      ...access,
      granted_scopes: [...access.granted_scopes],
      missing_scopes: [...access.missing_scopes],
      token_expires_at: access.token_expires_at ?? null,
      // A tier that can reply still cannot when the backend refuses every change.
      can_reply: access.can_reply && provider.mutations_available,
      can_post: access.can_post && provider.mutations_available,
      mode,
      approval_mode: approvalMode,
      llm_configured: services.settings.llm.provider !== '',
      provider: { ...provider, unsupported_methods: [...provider.unsupported_methods] },
      problems,
    };
  },
});

async function look(services: XServices, options: { signal: AbortSignal; callId: string }) {
  const problems = databaseProblems(await serverPart(services));
  let provider = unreachable(services.settings.xApi.provider_backend || 'x_api');
  let access = NO_ACCESS;
  try {
    const x = await services.x();
    provider = x.provider;
    access = await x.access(options);
  } catch (error) {
    problems.push(reasonOf(error));
  }
  return { provider, access, problems };
}

function databaseProblems({ status, database }: Part): { code: string; message: string }[] {
  if (status === 'ok') return [];
  const message = isObject(database) && typeof database.message === 'string' ? database.message : undefined;
  return [{ code: 'db_error', message: message ?? 'The database does not work; see health_check.' }];
}

const unreachable = (backend: ProviderInfo['backend']): ProviderInfo => ({
  backend,
  mutations_available: false,
  risk_level: backend === 'scraper' ? 'elevated' : 'standard',
  data_confidence: backend === 'scraper' ? 'medium' : 'high',
  unsupported_methods: [],
  note: 'The provider is not available; see problems.',
});

const MEANING = {
  autopilot: 'The growth loops act on their own, within the limits and the policy.',
  composer: 'You write, the assistant helps; every change requires approval.',
} as const;

export const getMode = defineXTool({
  name: 'get_mode',
  title: 'Get operating mode',
  summary: 'Operating mode (autopilot or composer) and whether changes require approval.',
  effect: 'read',
  reach: 'local',
  category: 'meta',
  profiles: READ_PROFILES,
  errors: [],
  input: z.object({}),
  output: z.object({
    mode: z.enum(['autopilot', 'composer']),
    approval_mode: z.boolean(),
    description: z.string(),
  }),
  async run(_args, { services }) {
    const { mode, approvalMode } = services.operatingMode();
    return { mode, approval_mode: approvalMode, description: MEANING[mode] };
  },
});
