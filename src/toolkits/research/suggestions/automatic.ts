import type { ToolContext } from '../../../contract/tool.ts';
import type { CallOptions, ProjectAnalysis } from '../analysis/service.ts';
import type { CodeSuggestion, Suggestions } from '../analysis/suggest.ts';
import { methodName } from '../lib/method.ts';
import { openSession, type Session } from '../lib/session.ts';
import type { ResearchServices } from '../services.ts';
import { codingSuggestion } from './codings.ts';
import { createProposer } from './propose.ts';

/** Long enough for a sentence model to read a page; after it words alone decide, and the reply says so. */
const PATIENCE_MS = 20_000;

interface FiledIdea {
  readonly id: string;
  readonly idea: CodeSuggestion;
  /** It waits in the batch it was first suggested in, not in this one. */
  readonly alreadyPending: boolean;
}

export interface AutomaticResult {
  readonly session: Session;
  readonly batchId: string;
  readonly found: Suggestions;
  readonly filed: readonly FiledIdea[];
  /** How many of them waited already. */
  readonly alreadyPending: number;
  readonly leftOut: number;
}

/** Lets the machine suggest codings and files each for the researcher, as one batch. */
export async function fileAutomatic(
  context: ToolContext<ResearchServices>,
  sourceId: number,
  suggest: (analysis: ProjectAnalysis, options: CallOptions) => Promise<Suggestions>,
): Promise<AutomaticResult> {
  const { services, signal } = context;
  const session = await openSession(context);
  const { project, lens } = session;
  const analysis = await services.analysis.of(project);
  const rules = await services.privacy.rules(project.id);
  const proposer = await createProposer(context, session, 'apply_code');
  const found = await suggest(analysis, {
    view: lens.reader,
    refiner: services.analysis.refinerFor(rules, sourceId),
    patienceMs: PATIENCE_MS,
    signal,
    isRejected: ({ codeId, start, end }) =>
      proposer.rejectedBefore({ code_id: codeId, source_id: sourceId, start_pos: start, end_pos: end }) !==
      undefined,
  });
  const batchId = await services.batches.open(project.id, 'automatic');
  const method = methodName(found.provenance);
  const kept = best(found.suggestions, services.config.max_suggestions);
  const filed: FiledIdea[] = [];
  const waitingIn = new Set<string | undefined>();
  for (const [at, idea] of kept.entries()) {
    signal.throwIfAborted();
    context.progress(`Filing ${at + 1} of ${kept.length}`, at, kept.length);
    const { approval, alreadyPending } = await proposer.file(
      codingSuggestion(session, {
        codeId: idea.codeId,
        sourceId,
        start: idea.start,
        end: idea.end,
        // It quotes the text, and agents may list it.
        rationale: rules.pseudonymiser.mask(idea.rationale),
        confidence: idea.confidence,
        method,
        batchId,
      }),
    );
    filed.push({ id: approval.uuid, idea, alreadyPending });
    waitingIn.add(approval.groupId);
  }
  // Asked the same again, the answer is the batch that waits, not an empty one.
  const [only] = waitingIn;
  return {
    session,
    batchId: waitingIn.size === 1 && only !== undefined ? only : batchId,
    found,
    filed,
    alreadyPending: filed.filter((item) => item.alreadyPending).length,
    leftOut: found.suggestions.length - kept.length,
  };
}

/** The surest ones when there are too many, in the order of the text. */
function best(suggestions: readonly CodeSuggestion[], most: number): readonly CodeSuggestion[] {
  if (suggestions.length <= most) return suggestions;
  const kept = new Set([...suggestions].sort((a, b) => b.confidence - a.confidence).slice(0, most));
  return suggestions.filter((item) => kept.has(item));
}
