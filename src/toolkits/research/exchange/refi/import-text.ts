import { ToolError } from '../../../../contract/errors.ts';
import { type ImportContext, joinMemo } from './import-context.ts';
import type {
  RefiArea,
  RefiCoding,
  RefiMade,
  RefiMediaSource,
  RefiSelection,
  RefiText,
  RefiTextSelection,
} from './model.ts';
import type { ReadPositions } from './text-positions.ts';

const SLICE = 100;

/** Puts the selections of a text on the source that now holds it: codings, annotations and the parts of cases. */
export async function importSelections(
  context: ImportContext,
  sourceId: number,
  name: string,
  refi: RefiText,
  positions: ReadPositions,
): Promise<void> {
  for (const [at, selection] of refi.selections.entries()) {
    if (at % SLICE === 0) await context.yieldToEventLoop();
    const range = rangeOf(context, positions, selection, name);
    if (!range) continue;
    const memo = joinMemo(selection.description, context.notes(selection));
    if (context.ofCases.has(selection.guid)) {
      context.selections.set(selection.guid, {
        sourceId,
        ...range,
        memo,
        stamp: context.stamp(selection, refi),
      });
    }
    if (selection.codings.length) {
      for (const coding of selection.codings)
        applyCode(context, sourceId, name, range, coding, memo, selection);
    } else if (!context.ofCases.has(selection.guid))
      annotate(context, sourceId, name, range, memo, selection);
  }
  // A code on the document as a whole.
  const whole = { start: 0, end: positions.text.length };
  if (whole.end > 0)
    for (const coding of refi.codings) applyCode(context, sourceId, name, whole, coding, '', refi);
}

type Range = { readonly start: number; readonly end: number };

function rangeOf(
  { report }: ImportContext,
  { place, text }: ReadPositions,
  selection: RefiTextSelection,
  name: string,
): Range | undefined {
  const omit = (why: string): undefined => {
    report.lost(why, name);
    report.lostCodings(selection.codings.length, name);
  };
  if (!Number.isInteger(selection.start) || !Number.isInteger(selection.end)) {
    return omit('Omitted a selection without positions');
  }
  const { start, end } = place(selection);
  if (selection.end <= selection.start) {
    return omit('Omitted a selection of no length');
  }
  const clamped = { start: Math.max(0, start), end: Math.min(end, text.length) };
  if (clamped.end <= clamped.start) {
    return omit('Omitted a selection beyond the end of its text');
  }
  if (clamped.start !== start || clamped.end !== end)
    report.repaired('Shortened a selection that reached beyond its text', name);
  return clamped;
}

function applyCode(
  context: ImportContext,
  sourceId: number,
  name: string,
  range: Range,
  coding: RefiCoding,
  memo: string,
  made: RefiMade,
): void {
  const stamp = context.stamp(coding, made);
  const codeId = context.codes.get(coding.code);
  const caseId = context.cases.get(coding.code);
  if (codeId === undefined && caseId !== undefined) {
    // NVivo and MAXQDA say with a coding which text belongs to a case.
    context.project.addCaseText({ caseId, sourceId, ...range, memo, ...stamp });
    return;
  }
  if (codeId === undefined) {
    context.report.lost('Omitted a coding whose code is not in the file', name);
    context.report.lostCodings(1, name);
    return;
  }
  const said = joinMemo(memo, context.notes(coding));
  const important = context.isImportant(coding.noteRefs);
  const { created } = context.project.addCoding({
    codeId,
    sourceId,
    ...range,
    memo: said,
    important,
    ...stamp,
  });
  if (created) context.added.codings += 1;
  else context.report.repaired('Omitted a coding that the project already has', name);
}

function annotate(
  context: ImportContext,
  sourceId: number,
  name: string,
  range: Range,
  memo: string,
  made: RefiMade,
): void {
  if (!memo) {
    context.report.lost('Omitted a selection that has neither a code nor a note', name);
    return;
  }
  try {
    context.project.addAnnotation({ sourceId, ...range, memo, ...context.stamp(made) });
    context.added.annotations += 1;
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'conflict') throw error;
    context.report.lost('Omitted a second annotation on exactly the same text', name);
  }
}

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
      context.report.lost('Omitted a coded area whose position cannot be determined', owner.name);
      context.report.lostCodings(area.codings.length, owner.name);
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
      context.report.lost('Omitted a coded stretch of no length', owner.name);
      context.report.lostCodings(clip.codings.length, owner.name);
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
    context.report.lost('Omitted a selection of a picture, PDF page or recording without a code', owner.name);
    // Its notes are not taken for a memo, so that they come into the journal.
    return;
  }
  const memo = joinMemo(selection.description, context.notes(selection));
  for (const coding of selection.codings) {
    const codeId = context.codes.get(coding.code);
    if (codeId === undefined) {
      context.report.lost('Omitted a coding whose code is not in the file', owner.name);
      context.report.lostCodings(1, owner.name);
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
