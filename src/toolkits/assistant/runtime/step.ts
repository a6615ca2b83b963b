import type { FinishReason, GeneratedFile, ModelMessage, ToolSet } from 'ai';
import type { ToolError } from '../../../contract/errors.ts';
import type { AssistantConfig } from '../config.ts';
import { AssistantError } from '../errors.ts';
import { BrokenStream, isBrokenAnswer, modelError } from './failures.ts';
import type { Usage } from './meter.ts';
import { type ModelChoice, openModel } from './models.ts';

export interface StepRequest {
  readonly system: string;
  readonly messages: ModelMessage[];
  readonly tools?: ToolSet;
  readonly maxOutputTokens: number;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly stream: boolean;
  readonly signal: AbortSignal;
  /** Called with the text so far while it streams. */
  onText?(text: string): void;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface StepResult {
  readonly text: string;
  /** The assistant's message, and results the SDK itself gave for calls it could not read. */
  readonly messages: readonly ModelMessage[];
  /** Calls that still need a result. */
  readonly calls: readonly ToolCall[];
  readonly files: readonly GeneratedFile[];
  readonly usage: Usage;
  readonly truncated: boolean;
}

interface RawStep {
  readonly text: string;
  readonly messages: readonly ModelMessage[];
  readonly files: readonly GeneratedFile[];
  readonly usage: { inputTokens: number | undefined; outputTokens: number | undefined };
  readonly finishReason: FinishReason;
  readonly rawFinishReason: string | undefined;
}

/** One request to one model. Tools are declared but never run here: the caller runs them through the pipeline. */
async function askModel(choice: ModelChoice, request: StepRequest): Promise<StepResult> {
  const raw = await (request.stream ? streamed(choice, request) : whole(choice, request));
  request.signal.throwIfAborted();
  const calls = openCalls(raw.messages);
  checkFinish(raw, calls, choice);
  return {
    text: raw.text,
    messages: raw.messages,
    calls,
    files: raw.files,
    usage: { inputTokens: raw.usage.inputTokens ?? 0, outputTokens: raw.usage.outputTokens ?? 0 },
    truncated: raw.finishReason === 'length',
  };
}

async function settings(choice: ModelChoice, request: StepRequest) {
  return {
    model: await openModel(choice),
    system: request.system,
    messages: request.messages,
    tools: request.tools,
    maxOutputTokens: request.maxOutputTokens,
    maxRetries: request.retries,
    abortSignal: request.signal,
    timeout: { totalMs: request.timeoutMs },
    // Conversations are kept here, for as long as the owner wishes, and not with the provider.
    providerOptions: { openai: { store: false } },
  };
}

async function whole(choice: ModelChoice, request: StepRequest): Promise<RawStep> {
  const { generateText } = await loadSdk();
  const result = await generateText(await settings(choice, request));
  return { ...pick(result), messages: result.response.messages };
}

async function streamed(choice: ModelChoice, request: StepRequest): Promise<RawStep> {
  const { streamText } = await loadSdk();
  const result = streamText({ ...(await settings(choice, request)), onError: () => {} });
  let text = '';
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'abort') {
      request.signal.throwIfAborted();
      throw new DOMException(`${choice.name} did not finish in time.`, 'TimeoutError');
    }
    if (part.type !== 'text-delta') continue;
    text += part.text;
    request.onText?.(text);
  }
  const [finalText, files, usage, finishReason, rawFinishReason, response] = await Promise.all([
    result.text,
    result.files,
    result.usage,
    result.finishReason,
    result.rawFinishReason,
    result.response,
  ]);
  return { text: finalText, files, usage, finishReason, rawFinishReason, messages: response.messages };
}

const pick = (result: Omit<RawStep, 'messages'>): Omit<RawStep, 'messages'> => ({
  text: result.text,
  files: result.files,
  usage: result.usage,
  finishReason: result.finishReason,
  rawFinishReason: result.rawFinishReason,
});

function checkFinish(raw: RawStep, calls: readonly ToolCall[], choice: ModelChoice): void {
  const { finishReason, rawFinishReason } = raw;
  if (finishReason === 'content-filter' || /filter|refus|safety/i.test(rawFinishReason ?? '')) {
    throw new AssistantError('assistant_refused', `${choice.name} refused to answer this message.`, {
      detail: { model: choice.name },
    });
  }
  if (finishReason === 'error') throw new BrokenStream(`${choice.name} reported an error in its answer.`);
  // A stream that breaks off or cannot be read ends without a reason, and the SDK then calls it "other".
  const unexplained = finishReason === 'other' && rawFinishReason === undefined;
  if (unexplained || (finishReason === 'other' && raw.text === '' && calls.length === 0))
    throw new BrokenStream();
}

/** Tool calls of a step that have no result among its messages. */
export function openCalls(messages: readonly ModelMessage[]): ToolCall[] {
  const calls = new Map<string, ToolCall>();
  for (const message of messages) {
    if (typeof message.content === 'string') continue;
    for (const part of message.content) {
      if (part.type === 'tool-call' && !part.providerExecuted) {
        calls.set(part.toolCallId, { id: part.toolCallId, name: part.toolName, input: part.input });
      }
      if (part.type === 'tool-result') calls.delete(part.toolCallId);
    }
  }
  return [...calls.values()];
}

async function loadSdk() {
  // The SDK prints its warnings, the first with console.info: on stdio that would break the protocol.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  return import('ai');
}

type LineConfig = Pick<AssistantConfig, 'stream' | 'retries' | 'step_timeout_seconds' | 'max_output_tokens'>;
type Ask = Pick<StepRequest, 'system' | 'messages' | 'tools' | 'signal' | 'onText'> & {
  maxOutputTokens?: number;
};

/** Codes that another model would not cure, or that the caller of the line handles. */
const FINAL = new Set(['assistant_refused', 'assistant_context_overflow', 'assistant_limit']);

/** The preferred model and those that stand in for it. Once one stands in it stays for the rest of the order. */
export class ModelFallbackChain {
  readonly #models: readonly ModelChoice[];
  readonly #config: LineConfig;
  #at = 0;

  constructor(models: readonly ModelChoice[], config: LineConfig) {
    this.#models = models;
    this.#config = config;
  }

  get current(): ModelChoice {
    const model = this.#models[this.#at];
    if (!model) throw new Error('The list of models must not be empty.');
    return model;
  }

  async ask(ask: Ask): Promise<StepResult> {
    let first: ToolError | undefined;
    for (;;) {
      try {
        return await this.#askCurrent(ask);
      } catch (error) {
        ask.signal.throwIfAborted();
        const fault = modelError(error, this.current.name);
        first ??= fault;
        if (FINAL.has(fault.code)) throw fault;
        // The first model is the one a person wants to work, so its failure is the one to tell.
        if (this.#at + 1 >= this.#models.length) {
          this.#at = 0;
          throw first;
        }
        this.#at += 1;
      }
    }
  }

  /** An answer that broke off is asked for again: no tool has been used for it yet. */
  async #askCurrent(ask: Ask): Promise<StepResult> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await askModel(this.current, {
          ...ask,
          maxOutputTokens: ask.maxOutputTokens ?? this.#config.max_output_tokens,
          timeoutMs: this.#config.step_timeout_seconds * 1000,
          retries: this.#config.retries,
          stream: this.#config.stream,
        });
      } catch (error) {
        ask.signal.throwIfAborted();
        if (attempt >= this.#config.retries || !isBrokenAnswer(error)) throw error;
      }
    }
  }
}
