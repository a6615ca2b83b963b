import type { JsonObject } from '../../../contract/json.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { Pace } from '../analysis/pace.ts';
import type { Provenance } from '../analysis/provenance.ts';
import type { CallOptions, ProjectAnalysis, Suggestions } from '../analysis/service.ts';
import { checkRange, cleanName, noCode } from '../project/checks.ts';
import { publicMemo } from '../project/memo.ts';
import type { ResearchServices } from '../services.ts';
import { openSession, type Session } from '../session.ts';
import { LEAST_FILED, type SuggestedCode } from '../suggest/protocol.ts';
import { passageMark } from '../tools/coding.ts';
import { excerpt } from '../tools/shapes.ts';
import { createProposer, type Suggestion, storedValues } from './propose.ts';

/** By what means a result came about, as the record and the reply name it. */
export const methodName = ({ method, model, refinedBy }: Provenance): string =>
  [method, model ? `(${model})` : '', refinedBy ? `refined by ${refinedBy}` : ''].filter(Boolean).join(' ');

export interface CodingIdea {
  readonly codeId: number;
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  readonly rationale: string;
  readonly confidence: number;
  readonly method?: string;
  readonly batchId?: string;
}

/** A coding as a suggestion: checked now, so that a wrong position is the suggester's error and not the researcher's. */
export function codingSuggestion({ lens }: Session, idea: CodingIdea): Suggestion {
  const { codeId, sourceId, start, end, rationale } = idea;
  const source = lens.source(sourceId);
  const text = lens.text(sourceId);
  const code = lens.reader.code(codeId);
  if (!code) throw noCode(codeId);
  checkRange(text, sourceId, start, end);
  const args: JsonObject = {
    code_id: codeId,
    source_id: sourceId,
    start_pos: start,
    end_pos: end,
    memo: rationale,
    text_hash: passageMark(start, end, text.slice(start, end)),
  };
  const shown = excerpt(lens.passage(sourceId, start, end).content);
  return {
    tool: 'apply_code',
    args,
    summary: `Apply "${code.name}" to ${source.name}, ${start}–${end}: “${shown}”`,
    rationale,
    confidence: idea.confidence,
    method: idea.method,
    batchId: idea.batchId,
  };
}

interface FiledIdea {
  readonly id: string;
  /** As it is stored: one filed earlier keeps its rationale and confidence. */
  readonly idea: SuggestedCode;
  /** It waits in the batch it was first suggested in, not in this one. */
  readonly alreadyPending: boolean;
}

export interface AutomaticResult {
  readonly session: Session;
  readonly batchId: string;
  readonly found: Suggestions;
  readonly filed: readonly FiledIdea[];
  /** Too unlikely to be filed. */
  readonly unlikely: readonly SuggestedCode[];
  /** Codes that a language model proposed, each filed for the researcher. */
  readonly newCodes: readonly { readonly id: string; readonly name: string; readonly rationale: string }[];
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
  const proposer = await createProposer(context, session);
  const found = await suggest(analysis, {
    view: lens.reader,
    refiner: services.analysis.refinerFor(rules, sourceId),
    signal,
    rejected: proposer.rejectedPlaces(),
  });
  if (found.suggestions.length > 0) await lens.reader.loadText(sourceId);
  const batchId = await services.batches.open(project.id, 'automatic');
  const method = methodName(found.provenance);
  const likely = found.suggestions.filter(({ confidence }) => confidence >= LEAST_FILED);
  const kept = best(likely, services.config.max_suggestions);
  const filed: FiledIdea[] = [];
  const waitingIn = new Set<string | undefined>();
  const pace = new Pace(signal);
  for (const [at, idea] of kept.entries()) {
    signal.throwIfAborted();
    if (pace.isDue) await pace.rest();
    context.progress(`Filing ${at + 1} of ${kept.length}`, at, kept.length);
    const item = await proposer.file(
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
    const { approval, alreadyPending } = item;
    const { rationale, confidence } = storedValues(item, lens);
    filed.push({
      id: approval.uuid,
      idea: alreadyPending ? { ...idea, rationale, confidence } : idea,
      alreadyPending,
    });
    waitingIn.add(approval.groupId);
  }
  const newCodes = await fileNewCodes(context, session, found, batchId);
  // Asked the same again, the answer is the batch that waits, not an empty one.
  const [only] = waitingIn;
  return {
    session,
    batchId: waitingIn.size === 1 && only !== undefined ? only : batchId,
    found,
    filed,
    unlikely: found.suggestions.filter(({ confidence }) => confidence < LEAST_FILED),
    newCodes,
    alreadyPending: filed.filter((item) => item.alreadyPending).length,
    leftOut: (found.leftOut ?? 0) + likely.length - kept.length,
  };
}

async function fileNewCodes(
  context: ToolContext<ResearchServices>,
  session: Session,
  { newCodes = [], provenance }: Suggestions,
  batchId: string,
) {
  if (newCodes.length === 0) return [];
  const proposer = await createProposer(context, session);
  const filed: { id: string; name: string; rationale: string }[] = [];
  for (const { name, definition, quote, reason } of newCodes) {
    const clean = cleanName(name, 'code');
    const rationale = `${provenance.refinedBy}: ${reason} It rests on “${quote}”.`;
    const { approval } = await proposer.file({
      tool: 'create_code',
      args: { name: clean, ...(definition ? { memo: publicMemo(definition) } : {}) },
      summary: `New code "${clean}"${definition ? `: ${definition}` : ''}`,
      rationale,
      method: methodName(provenance),
      batchId,
    });
    filed.push({ id: approval.uuid, name: clean, rationale });
  }
  return filed;
}

/** The surest ones when there are too many, in the order of the text. */
function best(suggestions: readonly SuggestedCode[], most: number): readonly SuggestedCode[] {
  if (suggestions.length <= most) return suggestions;
  const kept = new Set([...suggestions].sort((a, b) => b.confidence - a.confidence).slice(0, most));
  return suggestions.filter((item) => kept.has(item));
}
