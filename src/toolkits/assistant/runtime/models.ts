import type { LanguageModel } from 'ai';
import { lookup } from '../../../lib/lookup.ts';
import type { AssistantConfig } from '../config.ts';
import { AssistantError } from '../errors.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Provider = AssistantConfig['providers'][string];

/** Known without a table in the configuration. */
const BUILT_IN: Readonly<Record<string, Provider>> = {
  anthropic: { kind: 'anthropic', api: 'responses' },
  openai: { kind: 'openai', api: 'responses' },
  ollama: { kind: 'openai-compatible', base_url: 'http://127.0.0.1:11434/v1', api: 'chat' },
};

const KEY_VARIABLE = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' } as const;
const URL_VARIABLE = { anthropic: 'ANTHROPIC_BASE_URL', openai: 'OPENAI_BASE_URL' } as const;

export interface ModelChoice {
  /** `PROVIDER/MODEL`, as the configuration writes it. */
  readonly name: string;
  readonly provider: string;
  readonly kind: Provider['kind'];
  readonly api: Provider['api'];
  readonly id: string;
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
}

/** The configured models, the preferred one first. */
export function chosenModels(config: AssistantConfig, env: Env): readonly ModelChoice[] {
  if (config.model === undefined) {
    throw new AssistantError(
      'assistant_not_configured',
      'No model is configured. Set [assistant] model = "anthropic/…" (or openai/…, ollama/…) and its API key, or backend = "command".',
    );
  }
  return [config.model, ...config.fallbacks].map((name) => choose(name, config, env));
}

function choose(name: string, config: AssistantConfig, env: Env): ModelChoice {
  const slash = name.indexOf('/');
  const providerName = name.slice(0, slash);
  const provider = lookup(config.providers, providerName) ?? lookup(BUILT_IN, providerName);
  if (!provider) {
    const known = [...new Set([...Object.keys(config.providers), ...Object.keys(BUILT_IN)])].join(', ');
    throw new AssistantError(
      'assistant_not_configured',
      `[assistant] names the model ${name}, but the provider ${providerName} is unknown. Known: ${known}. Add [assistant.providers.${providerName}].`,
    );
  }
  const { kind } = provider;
  if (kind === 'openai-compatible' && !provider.base_url) {
    throw new AssistantError(
      'assistant_not_configured',
      `[assistant.providers.${providerName}] needs base_url.`,
    );
  }
  const ownKey = name === config.model ? config.api_key : undefined;
  const envKey = kind === 'openai-compatible' ? undefined : env[KEY_VARIABLE[kind]];
  const apiKey = provider.api_key ?? ownKey ?? envKey;
  if (kind !== 'openai-compatible' && !apiKey) {
    throw new AssistantError(
      'assistant_not_configured',
      `No API key for ${name}. Set ${KEY_VARIABLE[kind]}, [assistant] api_key, or [assistant.providers.${providerName}] api_key.`,
    );
  }
  const envUrl = kind === 'openai-compatible' ? undefined : withVersion(env[URL_VARIABLE[kind]]);
  return {
    name,
    provider: providerName,
    kind,
    api: provider.api,
    id: name.slice(slash + 1),
    baseUrl: provider.base_url ?? envUrl,
    apiKey,
  };
}

/** Other programs set these variables without the version part, which the SDK expects in them. */
function withVersion(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return url;
  return new URL(url).pathname === '/' ? new URL('/v1', url).href : url;
}

/** Loads the provider's package on first use: start-up must not pay for models that are never asked. */
export async function openModel(choice: ModelChoice): Promise<LanguageModel> {
  const { baseUrl: baseURL, apiKey } = choice;
  switch (choice.kind) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL, apiKey })(choice.id);
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const openai = createOpenAI({ baseURL, apiKey });
      return choice.api === 'chat' ? openai.chat(choice.id) : openai.responses(choice.id);
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const name = choice.provider;
      return createOpenAICompatible({ name, baseURL: baseURL ?? '', apiKey, includeUsage: true })(choice.id);
    }
    default:
      return choice.kind satisfies never;
  }
}
