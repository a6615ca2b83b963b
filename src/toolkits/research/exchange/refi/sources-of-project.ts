import { extname } from 'node:path';
import type * as qda from '../../project/types.ts';
import { IMPORTANT_NOTE } from './conventions.ts';
import type { Conversion } from './from-project.ts';
import type {
  RefiArea,
  RefiClip,
  RefiCoding,
  RefiMediaSource,
  RefiSource,
  RefiText,
  RefiTextSelection,
} from './model.ts';

/** What goes into the archive: a text, or a file of the project as `mediaPath` names it. */
type Place = { readonly name: string } & ({ readonly text: string } | { readonly mediaPath: string });
export type Places = readonly Place[];

interface Converted {
  readonly sources: RefiSource[];
  readonly places: Place[];
  readonly caseSelections: (caseId: number) => { sourceRefs: string[]; selectionRefs: string[] };
  readonly important: boolean;
}

const QUOTE = 200;

export function sourcesOf(conversion: Conversion): Converted {
  const { project, guid } = conversion;
  const places: Place[] = [];
  const textCodings = groupBy(project.codings(), ({ sourceId }) => sourceId);
  const caseTexts = project.caseTexts();
  const whole = (item: qda.CaseText) => {
    const length = project.text(item.sourceId)?.length ?? 0;
    return item.start <= 0 && item.end >= length;
  };
  const partial = groupBy(
    caseTexts.filter((item) => !whole(item)),
    ({ sourceId }) => sourceId,
  );
  const sources = project
    .sources()
    .flatMap((source) =>
      convert(conversion, source, textCodings.get(source.id) ?? [], partial.get(source.id) ?? [], places),
    );
  return {
    sources,
    places,
    caseSelections: (caseId) => {
      const own = caseTexts.filter((item) => item.caseId === caseId && project.source(item.sourceId));
      return {
        sourceRefs: [...new Set(own.filter(whole).map(({ sourceId }) => guid('source', sourceId)))],
        selectionRefs: own.filter((item) => !whole(item)).map(({ id }) => guid('case-text', id)),
      };
    },
    important: [...project.codings(), ...project.imageCodings(), ...project.mediaCodings()].some(
      (coding) => coding.important,
    ),
  };
}

function convert(
  conversion: Conversion,
  source: qda.Source,
  codings: readonly qda.Coding[],
  caseTexts: readonly qda.CaseText[],
  places: Place[],
): RefiSource[] {
  const { guid, made, memo, valuesOf, report } = conversion;
  const base = {
    guid: guid('source', source.id),
    name: source.name,
    description: memo(source.memo, source.name),
    ...made(source),
    noteRefs: [],
    codings: [],
    values: valuesOf('file', source.id),
  };
  const text = source.hasText ? textOf(conversion, source, codings, caseTexts, places) : undefined;
  if (source.type === 'text')
    return [{ kind: 'text', ...(text ?? emptyText()), ...base, ...richText(conversion, source, places) }];
  if (source.type === 'unknown') {
    report.lost('Omitted a source of a kind that REFI-QDA does not support', source.name);
    return [];
  }
  const kind = source.type === 'image' ? 'picture' : source.type;
  const path = filePath(conversion, source, places);
  const media: RefiMediaSource = {
    kind,
    ...base,
    ...(path ? { path } : {}),
    areas: kind === 'picture' || kind === 'pdf' ? areasOf(conversion, source) : [],
    clips: kind === 'audio' || kind === 'video' ? clipsOf(conversion, source) : [],
    texts: text
      ? [
          {
            ...text,
            guid: guid('text', source.id),
            name: source.name,
            description: '',
            ...made(source),
            codings: [],
            noteRefs: [],
            values: [],
          },
        ]
      : [],
  };
  return [media];
}

type TextPart = Pick<RefiText, 'selections'> & { readonly plainTextPath?: string; readonly content?: string };
const emptyText = (): TextPart => ({ content: ' ', selections: [] });

function textOf(
  conversion: Conversion,
  source: qda.Source,
  codings: readonly qda.Coding[],
  caseTexts: readonly qda.CaseText[],
  places: Place[],
): TextPart {
  const { project, guid, memo, made, report } = conversion;
  const text = project.text(source.id);
  if (!text) return emptyText();
  const name = `${guid('file', source.id)}.txt`;
  places.push({ name, text: text.value });
  const quote = (start: number, end: number) => text.slice(start, Math.min(end, start + QUOTE));
  const selection = (
    kind: string,
    item: { id: number; start: number; end: number; owner: string; date: string; memo: string },
    coded: RefiCoding[],
  ): RefiTextSelection => ({
    guid: guid(kind, item.id),
    name: quote(item.start, item.end),
    start: item.start,
    end: item.end,
    description: memo(item.memo, source.name),
    ...made(item),
    codings: coded,
    noteRefs: [],
  });
  const lost = codings.filter(({ anchored }) => !anchored);
  report.lost('Omitted a coding whose text is no longer where it was', source.name, lost.length);
  const selections = [
    ...codings
      .filter(({ anchored }) => anchored)
      .map((coding) => selection('selection', coding, [codingOf(conversion, 'coding', coding)])),
    ...project.annotations(source.id).map((item) => selection('annotation', item, [])),
    ...caseTexts.map((item) => selection('case-text', item, [])),
  ];
  return { plainTextPath: `internal://${name}`, selections };
}

function codingOf(
  { guid, made }: Conversion,
  kind: string,
  item: { id: number; codeId: number; owner: string; date: string; important: boolean },
): RefiCoding {
  return {
    guid: guid(kind, item.id),
    code: guid('code', item.codeId),
    ...made(item),
    noteRefs: item.important ? [guid('note', IMPORTANT_NOTE)] : [],
  };
}

function areasOf(conversion: Conversion, source: qda.Source): RefiArea[] {
  const { project, guid, memo, made, report, pageHeights } = conversion;
  return project
    .imageCodings()
    .filter(({ sourceId }) => sourceId === source.id)
    .flatMap((item) => {
      const isPdf = source.type === 'pdf';
      const height = isPdf ? pageHeights.get(source.id)?.[item.pdfPage ?? 0] : undefined;
      if (isPdf && height === undefined) {
        report.lost('Omitted a coded area of a PDF, as the size of its page is unknown', source.name);
        return [];
      }
      const [x, y, right, bottom] = [item.x, item.y, item.x + item.width, item.y + item.height].map(
        Math.round,
      );
      if ([item.x, item.y, item.width, item.height].some((value) => !Number.isInteger(value)))
        report.repaired('Rounded the coordinates of a coded area to whole points', source.name);
      return [
        {
          guid: guid('area', item.id),
          name: '',
          description: memo(item.memo, source.name),
          ...made(item),
          codings: [codingOf(conversion, 'area-coding', item)],
          noteRefs: [],
          firstX: x ?? 0,
          secondX: right ?? 0,
          // A PDF counts from the bottom of the page, a picture from the top.
          firstY: height === undefined ? (y ?? 0) : Math.round(height) - (y ?? 0),
          secondY: height === undefined ? (bottom ?? 0) : Math.round(height) - (bottom ?? 0),
          ...(isPdf ? { page: item.pdfPage ?? 0 } : {}),
        },
      ];
    });
}

const clipsOf = (conversion: Conversion, source: qda.Source): RefiClip[] =>
  conversion.project
    .mediaCodings()
    .filter(({ sourceId }) => sourceId === source.id)
    .map((item) => ({
      guid: conversion.guid('clip', item.id),
      name: '',
      begin: Math.round(item.startMs),
      end: Math.round(item.endMs),
      description: conversion.memo(item.memo, source.name),
      ...conversion.made(item),
      codings: [codingOf(conversion, 'clip-coding', item)],
      noteRefs: [],
    }));

/** Only Word documents may be named as rich text: a .txt there makes other programs fail. */
function richText(
  { guid, hasFile }: Conversion,
  source: qda.Source,
  places: Place[],
): { richTextPath?: string } {
  const { mediaPath } = source;
  if (!mediaPath?.startsWith('/docs/') || extname(mediaPath).toLowerCase() !== '.docx' || !hasFile(mediaPath))
    return {};
  const name = `${guid('file', source.id)}.docx`;
  places.push({ name, mediaPath });
  return { richTextPath: `internal://${name}` };
}

function filePath(
  { guid, report, hasFile }: Conversion,
  source: qda.Source,
  places: Place[],
): string | undefined {
  const { mediaPath } = source;
  if (!mediaPath?.startsWith('/')) {
    // A path on this computer would tell the name of its user and lead nowhere elsewhere.
    report.lost('Omitted a file outside the project', source.name);
    return undefined;
  }
  if (!hasFile(mediaPath)) {
    report.lost('Omitted a file that is missing from the project', source.name);
    return undefined;
  }
  const name = `${guid('file', source.id)}${extname(mediaPath).toLowerCase()}`;
  places.push({ name, mediaPath });
  return `internal://${name}`;
}

function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
