import { type ImportContext, joinMemo } from './import-context.ts';
import type { RefiArea, RefiMediaSource, RefiSelection } from './model.ts';

interface Owner {
  readonly id: number;
  readonly name: string;
}

/** Coded rectangles of pictures and PDF pages. */
export function importAreas(context: ImportContext, source: RefiMediaSource, owner: Owner): void {
  const heights = context.contents.pageHeights.get(source.guid) ?? [];
  for (const area of source.areas) {
    const box = boxOf(area, heights);
    if (!box) {
      context.report.lost('Left out a coded area whose place cannot be worked out', owner.name);
      continue;
    }
    eachCode(context, area, owner, (codeId, rest) => {
      context.project.addImageCoding({ sourceId: owner.id, codeId, ...box, ...rest });
    });
  }
}

/** Coded stretches of recordings. */
export function importClips(context: ImportContext, source: RefiMediaSource, owner: Owner): void {
  for (const clip of source.clips) {
    if (!Number.isFinite(clip.begin) || !(clip.end > clip.begin)) {
      context.report.lost('Left out a coded stretch of no length', owner.name);
      continue;
    }
    eachCode(context, clip, owner, (codeId, rest) => {
      context.project.addMediaCoding({
        sourceId: owner.id,
        codeId,
        startMs: clip.begin,
        endMs: clip.end,
        ...rest,
      });
    });
  }
}

/** Corners in any order; a PDF counts from the bottom of its page, QualCoder from the top. */
function boxOf(area: RefiArea, heights: readonly number[]) {
  const { page } = area;
  const [left, right] = [Math.min(area.firstX, area.secondX), Math.max(area.firstX, area.secondX)];
  const [low, high] = [Math.min(area.firstY, area.secondY), Math.max(area.firstY, area.secondY)];
  if (![left, right, low, high].every(Number.isFinite)) return undefined;
  const size = { x: left, width: right - left, height: high - low };
  if (page === undefined) return { ...size, y: low };
  // Programs number pages from 0 or from 1; only a page that exists can be meant.
  const at = heights[page] === undefined ? page - 1 : page;
  const height = heights[at];
  return height === undefined ? undefined : { ...size, y: Math.round(height) - high, pdfPage: at };
}

type Rest = {
  readonly memo: string;
  readonly important: boolean;
  readonly owner?: string;
  readonly date?: string;
};

function eachCode(
  context: ImportContext,
  selection: RefiSelection,
  owner: Owner,
  add: (codeId: number, rest: Rest) => void,
): void {
  if (selection.codings.length === 0) {
    context.report.lost(
      'Left out a selection of a picture, PDF page or recording without a code',
      owner.name,
    );
    // Its notes are not taken for a memo, so that they come into the journal.
    return;
  }
  const memo = joinMemo(selection.description, context.notes(selection));
  for (const coding of selection.codings) {
    const codeId = context.codes.get(coding.code);
    if (codeId === undefined) {
      context.report.lost('Left out a coding whose code is not in the file', owner.name);
      continue;
    }
    const rest = {
      memo: joinMemo(memo, context.notes(coding)),
      important: context.isImportant(coding.noteRefs),
      ...context.stamp(coding, selection),
    };
    add(codeId, rest);
    context.added.codings += 1;
  }
}
