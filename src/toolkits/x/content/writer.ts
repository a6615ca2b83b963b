import { randomUUID } from 'node:crypto';
import type { LanguageModel } from 'ai';
import { ToolError } from '../../../contract/errors.ts';
import type { Log } from '../../../contract/ports.ts';
import { timeLimit } from '../../../lib/time-limit.ts';
import type { ActivityStore } from '../growth/activity-store.ts';
import type { PostKind } from '../growth/tables.ts';
import { postLength, textKey } from '../posting/text.ts';
import type { XSettings } from '../services.ts';
import { bareText, type DraftRules, draftProblem, splitParts } from './compose.ts';
import {
  ARCHETYPES,
  type Archetype,
  avoid,
  FORMATS,
  type Format,
  isFormat,
  modelName,
  openModel,
  persona,
  pickArchetype,
  productRule,
  type QuotedPost,
  STRUCTURES,
  type Structure,
  untrusted,
} from './prompts.ts';

/** A post needs a hundred at most; models that think first count their thoughts too. */
const POST_TOKENS = 4000;
const THREAD_TOKENS = 12_000;

export interface WriterOptions {
  readonly settings: Pick<XSettings, 'llm' | 'business' | 'limits'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly journal: Pick<ActivityStore, 'generated' | 'llmUsed'>;
  readonly log: Log;
  bannedPhrase(text: string): string | undefined;
  now(): Date;
  random(): number;
}

export interface Written {
  readonly text: string;
  readonly length: number;
}

export interface ReplyRequest {
  readonly post: QuotedPost;
  readonly context?: string;
  readonly archetype?: Archetype;
  readonly mentionProduct?: boolean;
}

export interface ThreadRequest {
  readonly topic: string;
  readonly count: number;
  readonly structure?: Structure;
  /** One of the formats, for each part. */
  readonly format?: Format;
  readonly objective?: string;
  readonly audience?: string;
}

interface Task {
  readonly purpose: string;
  readonly style: string;
  readonly prompt: string;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly signal: AbortSignal;
}

/** A model's answer read: usable, or what to tell the model about it. */
type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Writes drafts with the configured language model. Nothing here posts. */
export class Writer {
  readonly #options: WriterOptions;
  #model: Promise<LanguageModel> | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  get configured(): boolean {
    return this.#options.settings.llm.provider !== '';
  }

  async reply(
    wanted: ReplyRequest,
    signal: AbortSignal,
  ): Promise<Written & { readonly archetype: Archetype }> {
    const { business, limits } = this.#options.settings;
    const archetype = wanted.archetype ?? pickArchetype(this.#options.random);
    const prompt = lines([
      'Write a reply to this post.',
      untrusted(wanted.post),
      ARCHETYPES[archetype].guide,
      wanted.context ? `The person who asked adds: ${wanted.context}` : '',
      productRule(business, wanted.mentionProduct ?? false),
      avoid(limits.banned_phrases),
    ]);
    const style = business.reply_style;
    const written = await this.#writeOne({
      purpose: 'reply',
      style,
      prompt,
      maxTokens: POST_TOKENS,
      temperature: 0.7,
      signal,
    });
    await this.#remember('reply', written.text, undefined, archetype);
    return { ...written, archetype };
  }

  /** `style` is one of the formats, or words of the caller's own. */
  async tweet(
    wanted: { readonly topic: string; readonly style?: string },
    signal: AbortSignal,
  ): Promise<Written> {
    const { business, limits } = this.#options.settings;
    const guide =
      wanted.style === undefined
        ? ''
        : isFormat(wanted.style)
          ? FORMATS[wanted.style]
          : `Style: ${wanted.style}`;
    const prompt = lines([
      `Write one original post about: ${wanted.topic}`,
      guide,
      avoid(limits.banned_phrases),
    ]);
    const style = business.content_style;
    const written = await this.#writeOne({
      purpose: 'tweet',
      style,
      prompt,
      maxTokens: POST_TOKENS,
      temperature: 0.8,
      signal,
    });
    await this.#remember('tweet', written.text, wanted.topic, wanted.style);
    return written;
  }

  async thread(wanted: ThreadRequest, signal: AbortSignal): Promise<readonly Written[]> {
    const { business, limits } = this.#options.settings;
    const prompt = lines([
      `Write a thread of exactly ${wanted.count} posts about: ${wanted.topic}`,
      wanted.structure ? `Structure: ${STRUCTURES[wanted.structure]}` : '',
      wanted.format ? `Each post: ${FORMATS[wanted.format]}` : '',
      wanted.objective ? `Objective: ${wanted.objective}` : '',
      wanted.audience ? `Audience: ${wanted.audience}` : '',
      'The first post must make people want to read on; the last one must close the thought.',
      'Put a line of three dashes between posts. Do not number them.',
      avoid(limits.banned_phrases),
    ]);
    const style = business.content_style;
    const task = { purpose: 'thread', style, prompt, maxTokens: THREAD_TOKENS, temperature: 0.7, signal };
    const parts = await this.#attempt<string[]>(task, async (answer) => {
      const texts = splitParts(answer);
      if (texts.length !== wanted.count) {
        return {
          ok: false,
          problem: `There were ${texts.length} posts. Write exactly ${wanted.count}, with --- between them.`,
        };
      }
      for (const [index, text] of texts.entries()) {
        const problem = await draftProblem(text, this.#rules);
        if (problem) return { ok: false, problem: `Post ${index + 1}: ${problem}` };
      }
      return { ok: true, value: texts };
    });
    await this.#remember('thread', parts.join('\n\n'), wanted.topic, wanted.structure ?? wanted.format);
    return Promise.all(parts.map(measured));
  }

  #writeOne(task: Task): Promise<Written> {
    return this.#attempt<Written>(task, async (answer) => {
      const text = bareText(answer);
      const problem = await draftProblem(text, this.#rules);
      return problem ? { ok: false, problem } : { ok: true, value: await measured(text) };
    });
  }

  get #rules(): DraftRules {
    const { product_url } = this.#options.settings.business;
    return { bannedPhrase: this.#options.bannedPhrase, allowedLinks: product_url ? [product_url] : [] };
  }

  /** Two tries: the second gets what was wrong with the first. */
  async #attempt<T>(task: Task, read: (answer: string) => Promise<Reading<T>>): Promise<T> {
    const first = await read(await this.#ask(task));
    if (first.ok) return first.value;
    const prompt = `${task.prompt}\n\nYour first attempt could not be used. ${first.problem}`;
    const second = await read(await this.#ask({ ...task, prompt }));
    if (second.ok) return second.value;
    throw new ToolError('llm_error', `The model's text could not be used, twice. ${second.problem}`, {
      detail: { purpose: task.purpose },
    });
  }

  async #ask({ purpose, style, prompt, maxTokens, temperature, signal }: Task): Promise<string> {
    const { settings, env, journal, now, log } = this.#options;
    const { llm, business } = settings;
    this.#model ??= openModel(llm, env);
    const model = await this.#model.catch((error: unknown) => {
      this.#model = undefined;
      throw error;
    });
    const { generateText } = await import('ai');
    const limit = timeLimit(llm.timeout_seconds * 1000, signal);
    try {
      const { text, usage } = await generateText({
        model,
        system: persona(business, style),
        prompt,
        maxOutputTokens: maxTokens,
        temperature,
        maxRetries: 1,
        abortSignal: limit.signal,
      });
      const use = { inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 };
      await journal
        .llmUsed({ at: now(), purpose, provider: llm.provider, model: modelName(llm), ...use })
        .catch((error: unknown) => log.warn('Model usage was not recorded', { error: String(error) }));
      return text;
    } catch (error) {
      if (signal.aborted) throw error;
      throw await modelError(error);
    } finally {
      limit.clear();
    }
  }

  /** So that the post made of this text later knows its topic and style, no matter who posts it. */
  async #remember(kind: PostKind, text: string, topic?: string, style?: string): Promise<void> {
    const { journal, now, log } = this.#options;
    await journal
      .generated({ id: randomUUID(), textKey: textKey(text), kind, topic, style }, now())
      .catch((error: unknown) => log.warn('A draft was not stored', { error: String(error) }));
  }
}

async function modelError(error: unknown): Promise<ToolError> {
  const { APICallError } = await import('ai');
  const status = APICallError.isInstance(error) ? error.statusCode : undefined;
  const refused = status === 401 || status === 403 || status === 404;
  const message =
    status === undefined
      ? 'The language model did not answer.'
      : refused
        ? `The language model's server refused the request with status ${status}; check llm.api_key and llm.model.`
        : `The language model's server failed with status ${status}.`;
  return new ToolError('llm_error', message, { cause: error, ...(refused ? { retryable: false } : {}) });
}

const measured = async (text: string): Promise<Written> => ({ text, length: await postLength(text) });

const lines = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n');
