import { setTimeout as sleep } from 'node:timers/promises';
import { ToolError } from '../../contract/errors.ts';
import type { LeasePort, Log } from '../../contract/ports.ts';
import type { Embedder } from './analysis/embedder.ts';
import type { SuggestionRefiner } from './analysis/refine.ts';
import type { ProjectAnalysis } from './analysis/service.ts';
import type { ResearchConfig } from './config.ts';
import type { PrivacyRules, PrivacyStore } from './privacy/rules.ts';
import type { OpenProject, Projects } from './project/projects.ts';
import type { SuggestionEngine } from './suggest/engine.ts';

const LOOK_MS = 5_000;
/** The first caller wants an answer first. */
const AFTER_FIRST_CALL_MS = 2_000;
/** Looking at a source takes a few milliseconds of this thread; calls come in between. */
const BETWEEN_MS = 20;
/** Of all processes on the store, one reads. */
const LEASE = 'research.read-sources';
const LEASE_MS = 3 * LOOK_MS;

export interface SourceReaderOptions {
  readonly ai: 'off' | 'local' | 'llm';
  readonly projects: Projects;
  readonly privacy: PrivacyStore;
  readonly analysis: AnalysisPool;
  readonly leases: LeasePort;
  readonly log: Log;
}

/**
 * Reads the open project's sources for searching by meaning, one after the other, in the worker. What is read stays
 * read, so that it
 * can be stopped at any time and continues where it was. Sources off limits to agents are never read by machine.
 */
export class SourceReader {
  readonly #options: SourceReaderOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #done = '';

  constructor(options: SourceReaderOptions) {
    this.#options = options;
  }

  /** From now on behind the calls of this process; the process may end without it. */
  begin(): void {
    this.#running ??= this.#run(this.#stop.signal, AFTER_FIRST_CALL_MS);
  }

  /** Until the signal fires, as a job of the server. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#stop.abort(), { once: true });
    if (signal.aborted) this.#stop.abort();
    this.#running ??= this.#run(this.#stop.signal, 0);
    await this.#running;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal, delayMs: number): Promise<void> {
    const { ai, leases, log } = this.#options;
    if (ai === 'off') return;
    await pause(delayMs, signal);
    while (!signal.aborted) {
      try {
        await this.#look(signal);
      } catch (error) {
        // A project on a disk that is gone must not end the server; the next look may find it again.
        if (!signal.aborted)
          log.debug('sources could not be read for searching by meaning', { error: String(error) });
      }
      await pause(LOOK_MS, signal);
    }
    await leases.release(LEASE).catch(() => undefined);
  }

  /** An unchanged project is not looked through again. */
  async #look(signal: AbortSignal): Promise<void> {
    const { projects, privacy, leases } = this.#options;
    const project = await projects.find();
    if (!project) return;
    const { offLimits } = await privacy.rules(project.id);
    const state = JSON.stringify([project.id, project.store.textVersion(), [...offLimits]]);
    if (state === this.#done || !(await leases.acquire(LEASE, LEASE_MS))) return;
    // Losing the lease only means that two processes read the same source; each result is as good.
    const keep = setInterval(() => void leases.acquire(LEASE, LEASE_MS).catch(() => false), LOOK_MS).unref();
    try {
      if (await this.#read(project, signal)) this.#done = state;
    } finally {
      clearInterval(keep);
    }
  }

  /** False when the project was closed on the way. */
  async #read(project: OpenProject, signal: AbortSignal): Promise<boolean> {
    const { projects, privacy, analysis } = this.#options;
    const closed = new AbortController();
    const ids = project.store.sources().flatMap(({ id, hasText }) => (hasText ? [id] : []));
    try {
      await (await analysis.of(project)).prepare(ids, {
        signal: AbortSignal.any([signal, closed.signal]),
        async mayRead(id) {
          await pause(BETWEEN_MS, signal);
          if ((await projects.find())?.id !== project.id) closed.abort();
          return !(await privacy.rules(project.id)).offLimits.has(id);
        },
      });
      return true;
    } catch (error) {
      if (closed.signal.aborted) return false;
      throw error;
    }
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);

const DEFAULT_ADDRESS = {
  openai: 'the OpenAI API',
  anthropic: 'the Anthropic API',
  compatible: 'http://127.0.0.1:11434/v1',
} as const;

/** The analyses of the projects in use. They share one worker for suggestions, started by the first that needs it. */
export class AnalysisPool {
  readonly #config: ResearchConfig;
  readonly #projects: Projects;
  readonly #open = new Map<OpenProject['store'], Promise<ProjectAnalysis>>();
  readonly #privacy: PrivacyStore;
  #engine: SuggestionEngine | undefined;

  constructor(config: ResearchConfig, projects: Projects, privacy: PrivacyStore) {
    this.#config = config;
    this.#projects = projects;
    this.#privacy = privacy;
  }

  /** Refuses when the researcher wants no such thing at all. */
  async of(project: OpenProject): Promise<ProjectAnalysis> {
    if (this.#config.ai === 'off') {
      throw new ToolError(
        'not_allowed',
        'Similarity and automatic suggestions are disabled in this installation ([research] ai = "off").',
      );
    }
    const known = this.#open.get(project.store);
    if (known) return known;
    const made = this.#make(project);
    this.#open.set(project.store, made);
    made.catch(() => this.#open.delete(project.store));
    return made;
  }

  /**
   * The language model, where one is configured and may see the source. It sees what an agent would see:
   * nothing of a source off limits, and pseudonyms instead of names.
   */
  refinerFor(rules: PrivacyRules, sourceId: number): SuggestionRefiner | undefined {
    const { ai, llm } = this.#config;
    if (ai !== 'llm' || rules.offLimits.has(sourceId)) return undefined;
    if (!llm) {
      throw new ToolError('llm_not_configured', '[research] ai is "llm", but [research.llm] names no model.');
    }
    const mask = (text: string) => rules.pseudonymiser.mask(text);
    return {
      name: `${llm.provider}/${llm.model}`,
      address: llm.base_url ?? DEFAULT_ADDRESS[llm.provider],
      async refine(request, signal) {
        const { askModel } = await import('./llm/ask-model.ts');
        const codes = request.codes.map((code) => ({
          ...code,
          name: mask(code.name),
          memo: mask(code.memo),
          // A person sees more than the model may.
          examples: code.examples
            .filter((example) => !rules.offLimits.has(example.sourceId))
            .map((example) => ({ ...example, text: mask(example.text) })),
        }));
        const suggestions = request.suggestions.map((item) => ({ ...item, text: mask(item.text) }));
        return askModel(llm, { ...request, codes, suggestions }, signal);
      },
    };
  }

  /** A summary in a model's words, where one is configured; it sees the citations that the caller sees. */
  async wordSummary(
    rules: PrivacyRules,
    of: string,
    citations: readonly { readonly number: number; readonly text: string }[],
    signal?: AbortSignal,
  ): Promise<{ summary?: string; model: string; note: string } | undefined> {
    const { ai, llm } = this.#config;
    if (ai !== 'llm' || !llm || citations.length === 0) return undefined;
    const model = `${llm.provider}/${llm.model}`;
    const address = llm.base_url ?? DEFAULT_ADDRESS[llm.provider];
    const mask = (text: string) => rules.pseudonymiser.mask(text);
    const { summariseWithModel } = await import('./llm/ask-model.ts');
    try {
      const shown = citations.map(({ number, text }) => ({ number, text: mask(text) }));
      const summary = await summariseWithModel(llm, mask(of), shown, signal);
      return { summary, model, note: `Sent to ${model} at ${address}: ${citations.length} cited sentences.` };
    } catch (error) {
      signal?.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      return {
        model,
        note: `${model} at ${address} was asked and failed (${why}); these are the central sentences.`,
      };
    }
  }

  async close(): Promise<void> {
    for (const analysis of this.#open.values()) (await analysis.catch(() => undefined))?.close();
    this.#open.clear();
    await this.#engine?.close();
  }

  async #make(project: OpenProject): Promise<ProjectAnalysis> {
    const { ProjectAnalysis: Analysis } = await import('./analysis/service.ts');
    const { SuggestionEngine: Engine } = await import('./suggest/engine.ts');
    this.#engine ??= new Engine();
    const embedder = await this.#embedder();
    return new Analysis({
      project: project.store,
      folder: this.#projects.folderOf(project),
      engine: this.#engine,
      ...(embedder ? { embedder } : {}),
      privacy: async () => {
        const { pseudonymiser, offLimits } = await this.#privacy.rules(project.id);
        return { mask: (text) => pseudonymiser.mask(text), offLimits };
      },
    });
  }

  async #embedder(): Promise<Embedder | undefined> {
    const { embeddings, ai } = this.#config;
    if (!embeddings) return undefined;
    if (ai !== 'llm' && !isThisMachine(embeddings.base_url)) {
      throw new ToolError(
        'not_allowed',
        `[research.embeddings] base_url is on another machine, which requires [research] ai = "llm"; it is "${ai}".`,
      );
    }
    const { EndpointEmbedder } = await import('./analysis/embedder.ts');
    return new EndpointEmbedder({
      baseUrl: embeddings.base_url,
      model: embeddings.model,
      apiKey: embeddings.api_key,
    });
  }
}

function isThisMachine(address: string): boolean {
  const { hostname } = new URL(address);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
