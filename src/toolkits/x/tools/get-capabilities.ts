import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import type { AccessInfo, ProviderInfo } from '../client/api.ts';
import { reasonOf } from '../lib/degraded.ts';
import { defineXTool, sourceOf, type XServices } from '../services.ts';

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
  faults: [],
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
    const { mode, approvalMode } = services.stance();
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
  const problems: { code: string; message: string }[] = [];
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

const unreachable = (backend: ProviderInfo['backend']): ProviderInfo => ({
  backend,
  mutations_available: false,
  risk_level: backend === 'scraper' ? 'elevated' : 'standard',
  data_confidence: backend === 'scraper' ? 'medium' : 'high',
  unsupported_methods: [],
  note: 'The provider is not available; problems says why.',
});
