import type { ToolFault } from '../../../contract/faults.ts';
import type { AssistantConfig } from '../config.ts';
import { isBrokenAnswer, modelFault } from './failures.ts';
import type { ModelChoice } from './models.ts';
import { askModel, type StepRequest, type StepResult } from './step.ts';

type LineConfig = Pick<AssistantConfig, 'stream' | 'retries' | 'step_timeout_seconds' | 'max_output_tokens'>;
type Ask = Pick<StepRequest, 'system' | 'messages' | 'tools' | 'signal' | 'onText'> & {
  maxOutputTokens?: number;
};

/** Codes that another model would not cure, or that the caller of the line handles. */
const FINAL = new Set(['assistant_refused', 'assistant_context_overflow', 'assistant_limit']);

/** The preferred model and those that stand in for it. Once one stands in it stays for the rest of the order. */
export class ModelLine {
  readonly #models: readonly ModelChoice[];
  readonly #config: LineConfig;
  #at = 0;

  constructor(models: readonly ModelChoice[], config: LineConfig) {
    this.#models = models;
    this.#config = config;
  }

  get current(): ModelChoice {
    const model = this.#models[this.#at];
    if (!model) throw new Error('A line of models is never empty.');
    return model;
  }

  async ask(ask: Ask): Promise<StepResult> {
    let first: ToolFault | undefined;
    for (;;) {
      try {
        return await this.#askCurrent(ask);
      } catch (error) {
        ask.signal.throwIfAborted();
        const fault = modelFault(error, this.current.name);
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
