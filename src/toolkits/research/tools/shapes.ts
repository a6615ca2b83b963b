import { z } from 'zod';
import type { PrivacyView } from '../privacy/privacy-view.ts';
import type { Maker } from '../project/journal.ts';
import type { Code, Coding } from '../project/types.ts';
import type { Passage } from '../retrieval/passages.ts';
import type { codeShape, segmentShape } from '../views.ts';

export function showCodes(lens: PrivacyView, codes: readonly Code[]): z.output<typeof codeShape>[] {
  const counts = lens.reader.codingCounts();
  const categories = new Map(lens.reader.categories().map(({ id, name }) => [id, name]));
  return codes.map((code) => {
    const category = code.categoryId === null ? undefined : categories.get(code.categoryId);
    return {
      id: code.id,
      name: lens.mask(code.name),
      color: code.color,
      segment_count: counts.get(code.id) ?? 0,
      memo: lens.mask(code.memo),
      category_id: code.categoryId,
      category_name: category === undefined ? null : lens.mask(category),
      parent_code_id: code.parentId,
      owner: lens.mask(code.owner),
      created_at: code.date,
    };
  });
}

export function showSegment(
  lens: PrivacyView,
  coding: Coding,
  codeName: string,
  maker: Maker | undefined,
): z.output<typeof segmentShape> {
  return {
    id: coding.id,
    source_id: coding.sourceId,
    code_id: coding.codeId,
    code_name: lens.mask(codeName),
    start_position: coding.start,
    end_position: coding.end,
    selected_text: lens.codingText(coding),
    memo: lens.mask(coding.memo),
    importance: coding.important ? 1 : 0,
    owner: lens.mask(coding.owner),
    created_at: coding.date,
    anchored: coding.anchored,
    made_by: maker
      ? {
          principal: maker.principal,
          approved_by: maker.approvedBy ?? null,
          method: maker.method ?? null,
          confidence: maker.confidence ?? null,
        }
      : null,
  };
}

/** An id as the document says, an integer; digits in quotes are understood as well. */
const whole = z.preprocess(
  (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
  z.int(),
);

export const id = (doc?: string) => (doc === undefined ? whole : whole.describe(doc));

/** The beginning of a passage on one line, for a summary. */
export function excerpt(text: string, longest = 120): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const points = [...line];
  return points.length <= longest ? line : `${points.slice(0, longest).join('').trimEnd()}…`;
}

export const page = {
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
};

export const pageOf = <T>(items: readonly T[], limit: number, offset: number): readonly T[] =>
  items.slice(offset, offset + limit);

export const contextChars = () =>
  z.int().min(0).max(2000).default(120).describe('Characters of the text before and after each passage.');

/** Conditions that all must hold; numeric attributes take min and max. */
export const attributeFilter = () =>
  z
    .array(
      z.strictObject({
        name: z.string(),
        value: z.string().optional(),
        min: z.number().optional(),
        max: z.number().optional(),
      }),
    )
    .optional()
    .describe('Attribute values of cases or sources, all required.');

export const passageShape = z.object({
  source_id: z.int(),
  source_name: z.string(),
  start_pos: z.int(),
  end_pos: z.int(),
  before: z.string(),
  text: z.string(),
  after: z.string(),
  codes: z.array(z.object({ id: z.int(), name: z.string() })),
  segment_ids: z.array(z.int()),
});

/** A passage with the text around it and names for IDs. */
export function showPassage(
  lens: PrivacyView,
  place: Passage,
  around: number,
): z.output<typeof passageShape> {
  const { sourceId, start, end } = place;
  const { length } = lens.text(sourceId);
  const read = (from: number, to: number) =>
    from < to ? lens.passage(sourceId, Math.max(0, from), Math.min(length, to)).content : '';
  return {
    source_id: sourceId,
    source_name: lens.mask(lens.source(sourceId).name),
    start_pos: start,
    end_pos: end,
    before: read(start - around, start),
    text: read(start, end),
    after: read(end, end + around),
    codes: [...new Set(place.codeIds)].map((code) => ({
      id: code,
      name: lens.mask(lens.reader.code(code)?.name ?? ''),
    })),
    segment_ids: [...place.segmentIds],
  };
}
