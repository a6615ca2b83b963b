import type { ToolError } from '../../../contract/errors.ts';
import { lookup } from '../../../lib/lookup.ts';
import type { AssistantConfig } from '../config.ts';
import { AssistantError } from '../errors.ts';

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

type MeterLimits = Pick<AssistantConfig, 'max_steps' | 'max_tokens' | 'max_cost_usd' | 'prices'>;

/** Counts what one order uses and stops it at its limits. */
export class Meter {
  readonly #limits: MeterLimits;
  steps = 0;
  inputTokens = 0;
  outputTokens = 0;
  costUsd = 0;
  /** Undefined until a model without a known price was used: then the sum would be a lie. */
  unpriced: string | undefined;
  /** What the last request read: the size of the conversation as the provider counts it. */
  contextTokens = 0;
  model: string | undefined;

  constructor(limits: MeterLimits) {
    this.#limits = limits;
  }

  /** Before each model request. */
  check(): void {
    const { max_steps, max_tokens, max_cost_usd } = this.#limits;
    if (this.steps >= max_steps) throw limitError('max_steps', max_steps, `${max_steps} steps`);
    const tokens = this.inputTokens + this.outputTokens;
    if (tokens >= max_tokens) throw limitError('max_tokens', max_tokens, `${max_tokens} tokens`);
    if (max_cost_usd === undefined) return;
    if (this.costUsd >= max_cost_usd)
      throw limitError('max_cost_usd', max_cost_usd, `${max_cost_usd} US dollars`);
  }

  /** A cost limit without a price would never stop anything, so it is refused before any money is spent. */
  checkPrice(model: string): void {
    if (this.#limits.max_cost_usd === undefined || lookup(this.#limits.prices, model)) return;
    throw new AssistantError(
      'assistant_not_configured',
      `[assistant] max_cost_usd is set, but no price is known for ${model}. Add [assistant.prices."${model}"] with input and output in US dollars per million tokens.`,
    );
  }

  addStep(model: string, usage: Usage): void {
    this.steps += 1;
    this.model = model;
    this.contextTokens = usage.inputTokens;
    this.addUsage(model, usage);
  }

  /** Requests that are no step of the work, such as a summary. */
  addUsage(model: string, usage: Usage): void {
    this.inputTokens += usage.inputTokens;
    this.outputTokens += usage.outputTokens;
    const price = lookup(this.#limits.prices, model);
    if (price) this.costUsd += (usage.inputTokens * price.input + usage.outputTokens * price.output) / 1e6;
    else this.unpriced = model;
  }
}

const limitError = (field: string, max: number, words: string): ToolError =>
  new AssistantError(
    'assistant_limit',
    `The order reached its limit of ${words} before it was answered. What was done so far remains. Ask it to continue in the same session, or raise [assistant] ${field}.`,
    { detail: { limit: field, max } },
  );
