import type { LanguageModel } from 'ai';
import { ToolFault } from '../../../contract/faults.ts';
import type { XSettings } from '../services.ts';

type Llm = XSettings['llm'];
type Env = Readonly<Record<string, string | undefined>>;

const DEFAULT_MODEL = {
  openai: 'gpt-5-mini',
  anthropic: 'claude-haiku-4-5',
  ollama: 'llama3.2',
  compatible: '',
} as const;
const OLLAMA_URL = 'http://127.0.0.1:11434/v1';

export const modelName = ({ provider, model }: Llm): string => model || (provider && DEFAULT_MODEL[provider]);

/** Loads the configured provider, and only that one, on first use. */
export async function openModel(llm: Llm, env: Env): Promise<LanguageModel> {
  const name = modelName(llm);
  switch (llm.provider) {
    case '':
      throw notConfigured('No language model is configured: set llm.provider, llm.model and llm.api_key.');
    case 'openai': {
      const apiKey = llm.api_key ?? env.OPENAI_API_KEY;
      if (!apiKey) throw notConfigured('llm.api_key is missing for provider openai.');
      const { createOpenAI } = await import('@ai-sdk/openai');
      // Chat completions, because proxies and gateways in front of OpenAI all speak it.
      return createOpenAI({ apiKey, baseURL: llm.base_url }).chat(name);
    }
    case 'anthropic': {
      const apiKey = llm.api_key ?? env.ANTHROPIC_API_KEY;
      if (!apiKey) throw notConfigured('llm.api_key is missing for provider anthropic.');
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ apiKey, baseURL: llm.base_url })(name);
    }
    case 'ollama':
    case 'compatible': {
      const baseURL = llm.base_url ?? (llm.provider === 'ollama' ? OLLAMA_URL : undefined);
      if (!baseURL || !name) throw notConfigured('Provider compatible needs llm.base_url and llm.model.');
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({ name: llm.provider, baseURL, apiKey: llm.api_key })(name);
    }
    default:
      return llm.provider satisfies never;
  }
}

const notConfigured = (message: string): ToolFault => new ToolFault('llm_not_configured', message);
