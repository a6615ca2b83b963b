import { z } from 'zod';
import type { ProjectWriter } from '../project/types.ts';
import { excerpt } from './excerpt.ts';
import type { Session } from './session.ts';

export interface RangeOf {
  readonly codeId: number;
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
}

export interface Applied {
  readonly id: number;
  readonly created: boolean;
}

const SHOWN = 200;

export const codedShape = z.object({
  preview: z.boolean(),
  match_count: z.int(),
  applied_count: z.int(),
  existing_count: z.int().describe('Passages that had this code already.'),
  segments: z.array(
    z.object({
      segment_id: z.int().nullable(),
      code_id: z.int().nullable().describe('Null in a preview of a code that would be made.'),
      source_id: z.int(),
      start_pos: z.int(),
      end_pos: z.int(),
      text: z.string(),
    }),
  ),
  truncated: z.boolean().describe(`More than the ${SHOWN} segments shown.`),
});

export const applyRanges = (project: ProjectWriter, ranges: readonly RangeOf[]): Applied[] =>
  ranges.map(({ codeId, sourceId, start, end }) => project.addCoding({ codeId, sourceId, start, end }));

/** `applied` is undefined for a preview. */
export function showCoded(
  { lens }: Session,
  ranges: readonly (Omit<RangeOf, 'codeId'> & { readonly codeId: number | null })[],
  applied: readonly Applied[] | undefined,
): z.output<typeof codedShape> {
  const created = applied?.filter((item) => item.created).length ?? 0;
  return {
    preview: applied === undefined,
    match_count: ranges.length,
    applied_count: created,
    existing_count: (applied?.length ?? 0) - created,
    segments: ranges.slice(0, SHOWN).map(({ codeId, sourceId, start, end }, at) => ({
      segment_id: applied?.[at]?.id ?? null,
      code_id: codeId,
      source_id: sourceId,
      start_pos: start,
      end_pos: end,
      text: excerpt(lens.passage(sourceId, start, end).content, 200),
    })),
    truncated: ranges.length > SHOWN,
  };
}
