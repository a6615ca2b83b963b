import { themeOf } from '../analysis/theme.ts';
import type { SourceText } from '../project/types.ts';
import type { Span } from '../statistics/frequencies.ts';
import type { ModelCode } from './channels.ts';

/** A code at a place: given by a person, or suggested and rejected. */
export interface Place extends Span {
  readonly codeId: number;
  readonly sourceId: number;
}

export interface ContentCode {
  readonly id: number;
  readonly name: string;
  /** Only the part of the memo that may be shown. */
  readonly memo: string;
  readonly categoryId: number | null;
}

/** What a model learns from: the project as one caller may see it. */
export interface ProjectContent {
  readonly codes: readonly ContentCode[];
  readonly codings: readonly Place[];
  /** Suggestions that a person rejected. */
  readonly rejected: readonly Place[];
  readonly sourceIds: readonly number[];
  source(id: number): { readonly name: string; readonly text: SourceText } | undefined;
}

/** "Theme - code" and "Theme: code" belong together, as do the codes of one category. */
export function modelCodes(codes: readonly ContentCode[]): ModelCode[] {
  const themes = new Map<string, number>();
  return codes.map(({ id, name, memo, categoryId }) => {
    const prefix = themeOf(name).theme?.toLowerCase();
    const key = prefix ? `p ${prefix}` : categoryId === null ? `c ${id}` : `k ${categoryId}`;
    const theme = themes.get(key) ?? themes.size;
    themes.set(key, theme);
    return { id, name, memo, theme };
  });
}

/** Codings of exactly one range together: one passage with all its codes. */
export interface GroupedPassage extends Span {
  readonly sourceId: number;
  readonly codeIds: readonly number[];
}

export function groupPlaces(places: readonly Place[]): Map<string, GroupedPassage> {
  const found = new Map<string, { sourceId: number; start: number; end: number; codeIds: number[] }>();
  for (const { codeId, sourceId, start, end } of places) {
    const key = `${sourceId} ${start} ${end}`;
    const passage = found.get(key) ?? { sourceId, start, end, codeIds: [] };
    if (!passage.codeIds.includes(codeId)) passage.codeIds.push(codeId);
    found.set(key, passage);
  }
  return found;
}
