import type { Vectors } from '../analysis/vectors.ts';
import type { Span } from '../statistics/frequencies.ts';
import type { SuggestionEngine } from './engine.ts';
import type { ProjectView } from './protocol.ts';

/** What may be sent to an embedding model: names are replaced, and sources off limits are not sent at all. */
export interface EmbeddingPrivacy {
  mask(text: string): string;
  readonly offLimits: ReadonlySet<number>;
}

interface PassageVector {
  readonly vector?: Float32Array;
  /** Why there is none, or where the passage was sent. */
  readonly note?: string;
}

type State = 'reading' | 'used' | 'unhelpful' | { readonly failed: string };

/**
 * Vectors of passages for the suggestion model. The coded passages are embedded behind the first call; from then on the passage asked
 * about is embedded too, if the model found that vectors make its suggestions better.
 */
export class PassageVectors {
  readonly #engine: SuggestionEngine;
  readonly #vectors: () => Vectors | undefined;
  readonly #privacy: (() => Promise<EmbeddingPrivacy>) | undefined;
  readonly #states = new Map<string, State>();

  constructor(
    engine: SuggestionEngine,
    vectors: () => Vectors | undefined,
    privacy?: () => Promise<EmbeddingPrivacy>,
  ) {
    this.#engine = engine;
    this.#vectors = vectors;
    this.#privacy = privacy;
  }

  async vectorOf(
    view: ProjectView,
    sourceId: number,
    range: Span,
    signal?: AbortSignal,
  ): Promise<PassageVector> {
    const vectors = this.#vectors();
    if (!vectors) return {};
    const privacy = await this.#privacy?.();
    // A person sees sources that no machine may read; those must not get into what is embedded.
    if ([...(privacy?.offLimits ?? [])].some((id) => !view.hiddenSources.includes(id)))
      return { note: `${vectors.model} was not asked: the project has sources off limits to it.` };
    const state = await this.#stateOf(view, vectors);
    if (state === 'reading')
      return { note: `${vectors.model} is still reading the coded passages; words alone decided.` };
    if (state === 'unhelpful')
      return { note: `${vectors.model} was not used: it does not improve suggestions on held-out sources.` };
    if (state !== 'used') return { note: `${vectors.model} was not available: ${state.failed}` };
    try {
      const { text } = await this.#engine.ask(view, { kind: 'body', sourceId, range }, signal);
      const [vector] = await vectors.of([text], signal ? { signal } : {});
      if (!vector) return {};
      return { vector, note: `The passage was sent to ${vectors.model} at ${vectors.address}.` };
    } catch (error) {
      signal?.throwIfAborted();
      return { note: `${vectors.model} was not available: ${messageOf(error)}` };
    }
  }

  /** Reads what is new behind the call; the answer is what is known now. */
  async #stateOf(view: ProjectView, vectors: Vectors): Promise<State> {
    const key = JSON.stringify([view.path, view.hiddenSources, view.hiddenCoders]);
    const known = this.#states.get(key);
    if (known === 'reading') return known;
    const { texts, usesVectors } = await this.#engine.ask(view, { kind: 'texts' });
    if (texts.length === 0) return usesVectors ? 'used' : 'unhelpful';
    this.#states.set(key, 'reading');
    this.#read(view, vectors, texts).then(
      (state) => this.#states.set(key, state),
      (error: unknown) => this.#states.set(key, { failed: messageOf(error) }),
    );
    // With vectors in use, a few new codings without one change nothing for this call.
    return known ?? 'reading';
  }

  async #read(view: ProjectView, vectors: Vectors, texts: readonly string[]): Promise<State> {
    const made = await vectors.of(texts);
    const { usesVectors } = await this.#engine.ask(view, { kind: 'vectors', texts, vectors: made });
    return usesVectors ? 'used' : 'unhelpful';
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
