import { ToolFault } from '../../contract/faults.ts';
import type { Embedder } from './analysis/embedder.ts';
import type { SuggestionRefiner } from './analysis/refine.ts';
import type { ProjectAnalysis } from './analysis/service.ts';
import type { ResearchConfig } from './config.ts';
import type { PrivacyRules } from './privacy/rules.ts';
import type { OpenProject, Projects } from './project/projects.ts';

/** The analyses of the projects in use. They share one sentence model, loaded by the first that needs it. */
export class AnalysisPool {
  readonly #config: ResearchConfig;
  readonly #projects: Projects;
  readonly #open = new Map<OpenProject['store'], Promise<ProjectAnalysis>>();
  #embedder: Embedder | undefined;

  constructor(config: ResearchConfig, projects: Projects) {
    this.#config = config;
    this.#projects = projects;
  }

  /** Refuses when the researcher wants no such thing at all. */
  async of(project: OpenProject): Promise<ProjectAnalysis> {
    if (this.#config.ai === 'off') {
      throw new ToolFault(
        'not_allowed',
        'Similarity and automatic suggestions are switched off in this installation ([research] ai = "off").',
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
   * The language model, where one is configured and may see the source. It is told what an agent would be told:
   * nothing of a source off limits, and pseudonyms instead of names.
   */
  refinerFor(rules: PrivacyRules, sourceId: number): SuggestionRefiner | undefined {
    const { ai, llm } = this.#config;
    if (ai !== 'llm' || rules.offLimits.has(sourceId)) return undefined;
    if (!llm) {
      throw new ToolFault('llm_not_configured', '[research] ai is "llm", but [research.llm] names no model.');
    }
    const mask = (text: string) => rules.pseudonymiser.mask(text);
    return {
      name: `${llm.provider}/${llm.model}`,
      async refine(request, signal) {
        const { askModel } = await import('./llm/ask-model.ts');
        const codes = request.codes.map((code) => ({
          ...code,
          name: mask(code.name),
          memo: mask(code.memo),
        }));
        const suggestions = request.suggestions.map((item) => ({ ...item, text: mask(item.text) }));
        return askModel(llm, { codes, suggestions }, signal);
      },
    };
  }

  async close(): Promise<void> {
    for (const analysis of this.#open.values()) (await analysis.catch(() => undefined))?.close();
    this.#open.clear();
    await this.#embedder?.close();
  }

  async #make(project: OpenProject): Promise<ProjectAnalysis> {
    const { ProjectAnalysis: Analysis } = await import('./analysis/service.ts');
    const { WorkerEmbedder } = await import('./analysis/embedder.ts');
    this.#embedder ??= new WorkerEmbedder();
    return new Analysis({
      project: project.store,
      folder: this.#projects.folderOf(project),
      embedder: this.#embedder,
    });
  }
}
