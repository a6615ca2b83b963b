import type { JsonObject } from '../../../contract/json.ts';
import { excerpt } from '../lib/excerpt.ts';
import type { Session } from '../lib/session.ts';
import { checkRange, noCode } from '../project/checks.ts';
import { passageMark } from '../tools/apply-code.ts';
import type { Suggestion } from './propose.ts';

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
