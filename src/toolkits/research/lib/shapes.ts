import { z } from 'zod';
import type { Lens } from '../privacy/lens.ts';
import type { Maker } from '../project/journal.ts';
import type { Code, Coding } from '../project/types.ts';

export const codeShape = z.object({
  id: z.int(),
  name: z.string(),
  color: z.string(),
  segment_count: z.int(),
  memo: z.string(),
  category_id: z.int().nullable(),
  category_name: z.string().nullable(),
  parent_code_id: z.int().nullable(),
  owner: z.string(),
  created_at: z.string(),
});

export function showCodes(lens: Lens, codes: readonly Code[]): z.output<typeof codeShape>[] {
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

export const segmentShape = z.object({
  id: z.int(),
  source_id: z.int(),
  code_id: z.int(),
  code_name: z.string(),
  start_position: z.int(),
  end_position: z.int(),
  selected_text: z.string(),
  memo: z.string(),
  importance: z.int(),
  owner: z.string(),
  created_at: z.string(),
  anchored: z
    .boolean()
    .describe('False when the text was edited elsewhere and the position is only a guess.'),
  made_by: z
    .object({
      principal: z.string(),
      approved_by: z.string().nullable(),
      method: z.string().nullable(),
      confidence: z.int().nullable(),
    })
    .nullable()
    .describe('Who made it through Countersign; null for what was made in QualCoder.'),
});

export function showSegment(
  lens: Lens,
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
