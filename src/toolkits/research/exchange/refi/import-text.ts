import { ToolFault } from '../../../../contract/faults.ts';
import { type ImportContext, joinMemo } from './import-context.ts';
import type { RefiCoding, RefiMade, RefiText, RefiTextSelection } from './model.ts';
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
    if (at % SLICE === 0) await context.breathe();
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
  if (!Number.isInteger(selection.start) || !Number.isInteger(selection.end)) {
    report.lost('Left out a selection without positions', name);
    return undefined;
  }
  const { start, end } = place(selection);
  if (selection.end <= selection.start) {
    report.lost('Left out a selection of no length', name);
    return undefined;
  }
  const clamped = { start: Math.max(0, start), end: Math.min(end, text.length) };
  if (clamped.end <= clamped.start) {
    report.lost('Left out a selection beyond the end of its text', name);
    return undefined;
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
    context.report.lost('Left out a coding whose code is not in the file', name);
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
  else context.report.repaired('Left out a coding that the project has already', name);
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
    context.report.lost('Left out a selection that has neither a code nor a note', name);
    return;
  }
  try {
    context.project.addAnnotation({ sourceId, ...range, memo, ...context.stamp(made) });
    context.added.annotations += 1;
  } catch (error) {
    if (!(error instanceof ToolFault) || error.code !== 'conflict') throw error;
    context.report.lost('Left out a second annotation on exactly the same text', name);
  }
}
