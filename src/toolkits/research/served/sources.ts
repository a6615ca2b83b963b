import { personPrivacyView } from '../privacy/privacy-view.ts';
import type { ResearchServices } from '../services.ts';
import { argNumber, showPending } from '../suggestions/decide.ts';
import { listSuggestions } from '../suggestions/propose.ts';
import { showSegment } from '../tools/shapes.ts';
import type { Answer } from './codes.ts';

export const sources: Answer<'sources'> = async (_, { services }) => {
  const { id, store } = await services.projects.current();
  const { offLimits } = await services.privacy.rules(id);
  const counts = store.sourceCodingCounts();
  return store.sources().map((source) => ({
    id: source.id,
    name: source.name,
    type: source.type,
    memo: source.memo,
    owner: source.owner,
    created_at: source.date,
    bytes: source.bytes,
    has_text: source.hasText,
    code_count: counts.get(source.id) ?? 0,
    off_limits: offLimits.has(source.id),
  }));
};

/** A page of a source with everything that lies on it. */
export const source: Answer<'source'> = async ({ source_id, start_pos, max_length }, { services }) => {
  const project = await services.projects.current();
  const lens = personPrivacyView(project.store);
  const item = lens.source(source_id);
  const text = item.hasText ? lens.text(source_id) : undefined;
  const length = text?.length ?? 0;
  const start = Math.min(start_pos, length);
  const end = Math.min(start + max_length, length);
  return {
    source_id,
    source_name: item.name,
    type: item.type,
    memo: item.memo,
    content: text?.slice(start, end) ?? '',
    start_pos: start,
    end_pos: end,
    total_length: length,
    has_more: end < length,
    ...(await marksWithin(services, project, source_id, { start, end })),
  };
};

/** Everything that lies on a source, without its text: what a reader asks for again after each change. */
export const marks: Answer<'marks'> = async ({ source_id }, { services }) => {
  const project = await services.projects.current();
  personPrivacyView(project.store).source(source_id);
  return { source_id, ...(await marksWithin(services, project, source_id, { start: 0, end: Infinity })) };
};

interface Range {
  readonly start: number;
  readonly end: number;
}

async function marksWithin(
  services: ResearchServices,
  { id, store }: Awaited<ReturnType<ResearchServices['projects']['current']>>,
  source_id: number,
  page: Range,
) {
  const lens = personPrivacyView(store);
  const onPage = (range: Range) => range.start < page.end && range.end > page.start;
  const codings = store.codings({ sourceId: source_id }).filter(onPage);
  const makers = await store.journal.makers('code_text', codings);
  const codes = new Map(store.codes().map((code) => [code.id, code]));
  const waiting = await listSuggestions(services.approvals, id, ['apply_code'], ['pending']);
  return {
    segments: codings.map((coding) => ({
      ...showSegment(lens, coding, codes.get(coding.codeId)?.name ?? '', makers.get(coding.id)),
      color: codes.get(coding.codeId)?.color ?? '#808080',
    })),
    annotations: store
      .annotations(source_id)
      .filter(onPage)
      .map(({ id: annotation, start: from, end: to, memo, owner }) => ({
        id: annotation,
        start_pos: from,
        end_pos: to,
        memo,
        owner,
      })),
    suggestions: waiting.flatMap((approval) => {
      const range = {
        start: argNumber(approval.args, 'start_pos'),
        end: argNumber(approval.args, 'end_pos'),
      };
      if (argNumber(approval.args, 'source_id') !== source_id || !onPage(range)) return [];
      const code = codes.get(argNumber(approval.args, 'code_id'));
      return [
        {
          ...showPending(approval),
          approval_id: approval.id,
          version: approval.version,
          code_id: code?.id ?? 0,
          code_name: code?.name ?? '',
          color: code?.color ?? '#808080',
          start_pos: range.start,
          end_pos: range.end,
        },
      ];
    }),
  };
}
