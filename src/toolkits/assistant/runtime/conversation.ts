import type { ToolSet } from 'ai';
import { ToolError } from '../../../contract/errors.ts';
import type { Turn } from '../backends/backend.ts';
import type { AssistantConfig } from '../config.ts';
import { estimateTokens, type Transcript } from '../sessions/transcript.ts';
import {
  buildContext,
  type Context,
  chooseCut,
  renderForSummary,
  SUMMARY_SYSTEM,
  summaryOf,
  summaryRequest,
} from './context.ts';
import type { ModelFallbackChain, StepResult } from './step.ts';

interface ConversationParts {
  readonly transcript: Transcript;
  readonly line: ModelFallbackChain;
  readonly config: Pick<AssistantConfig, 'context_tokens' | 'max_output_tokens'>;
  readonly system: string;
  readonly tools: ToolSet | undefined;
}

/** Characters of streamed text after which the caller is notified again that writing continues. */
const REPORT_EVERY = 400;
const SUMMARY_TOKENS = 2_000;

/** Asks the model the next thing of a session, and condenses what exceeds its window. */
export class Conversation {
  readonly #parts: ConversationParts;
  readonly #fixedTokens: number;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    this.#fixedTokens = estimateTokens(parts.system) + estimateTokens(JSON.stringify(parts.tools ?? {}));
  }

  async next(turn: Turn): Promise<StepResult> {
    let context = await this.#context(turn);
    if (this.#isFull(context, turn)) context = await this.#compact(turn, 0.4, context);
    try {
      return await this.#ask(turn, context);
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== 'assistant_context_overflow') throw error;
      // The provider counts otherwise than we do; keep less and try once more.
      const smaller = await this.#compact(turn, 0.15, context);
      if (smaller === context) throw error;
      return this.#ask(turn, smaller);
    }
  }

  #ask(turn: Turn, context: Context): Promise<StepResult> {
    const { line, system, tools } = this.#parts;
    let reported = 0;
    const onText = (text: string) => {
      if (text.length - reported < REPORT_EVERY) return;
      reported = text.length;
      turn.report(`Writing the answer (${text.length} characters so far)`);
    };
    return line.ask({ system, messages: context.messages, tools, signal: turn.signal, onText });
  }

  async #context(turn: Turn): Promise<Context> {
    const parts = await this.#parts.transcript.context(turn.session.id);
    return buildContext(parts, { run: turn.run, model: this.#parts.line.current.name });
  }

  #isFull(context: Context, turn: Turn): boolean {
    const { context_tokens, max_output_tokens } = this.#parts.config;
    const room = context_tokens - Math.min(max_output_tokens, context_tokens / 4);
    const measured = turn.meter.steps > 0 ? turn.meter.contextTokens : 0;
    return Math.max(this.#fixedTokens + context.tokens, measured) > room * 0.9;
  }

  /** Keeps the newest part as it is and puts a summary before it; the entries themselves stay in the transcript. */
  async #compact(turn: Turn, keep: number, before: Context): Promise<Context> {
    const { transcript, config } = this.#parts;
    const { compaction, entries } = await transcript.context(turn.session.id);
    // The window may really be smaller than configured, so what there is counts too.
    const cut = chooseCut(entries, Math.min(config.context_tokens, before.tokens) * keep);
    if (!cut) return before;
    turn.report('Condensing the earlier conversation');
    let summary = compaction ? summaryOf(compaction) : '';
    for (const piece of renderForSummary(cut.older, config.context_tokens * 2)) {
      summary = await this.#summarise(turn, summary, piece);
    }
    if (summary.trim() === '') return before;
    const body = { summary, firstKept: cut.firstKept, tokensBefore: before.tokens };
    const model = this.#parts.line.current.name;
    await transcript.append(turn.run, { type: 'compaction', body, model });
    await transcript.countCompaction(turn.session.id);
    return this.#context(turn);
  }

  async #summarise(turn: Turn, earlier: string, piece: string): Promise<string> {
    const { line, config } = this.#parts;
    turn.meter.check();
    const content = summaryRequest(earlier, piece);
    const result = await line.ask({
      system: SUMMARY_SYSTEM,
      messages: [{ role: 'user', content }],
      signal: turn.signal,
      maxOutputTokens: Math.min(SUMMARY_TOKENS, config.max_output_tokens),
    });
    turn.meter.addUsage(line.current.name, result.usage);
    return result.text;
  }
}
