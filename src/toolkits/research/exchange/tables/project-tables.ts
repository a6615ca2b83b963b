import { publicMemo } from '../../project/memo.ts';
import type { ProjectReader } from '../../project/types.ts';
import { type Table, toCsv, toHtml, toMarkdown, toXlsx } from './formats.ts';

export interface TableOptions {
  /** Also what stands behind ##### in memos. */
  readonly privateMemos?: boolean;
}

/** The codes with their place, definition and use. */
export function codebookTable(project: ProjectReader, options: TableOptions = {}): Table {
  const memo = memoOf(options);
  const counts = project.codingCounts();
  const paths = pathsOf(project);
  return {
    title: 'Codebook',
    columns: ['Code', 'Category', 'Definition', 'Color', 'Segments', 'Owner', 'Created', 'Id'],
    rows: project
      .codes()
      .map(
        (code) =>
          [
            code.name,
            paths(code),
            memo(code.memo),
            code.color,
            counts.get(code.id) ?? 0,
            code.owner,
            code.date,
            code.id,
          ] as const,
      )
      .sort((a, b) => a[1].localeCompare(b[1]) || a[0].localeCompare(b[0])),
  };
}

/** Every coded segment with its text, who coded it, and the case it belongs to. */
export function segmentsTable(project: ProjectReader, options: TableOptions = {}): Table {
  const memo = memoOf(options);
  const codes = new Map(project.codes().map((code) => [code.id, code]));
  const sources = new Map(project.sources().map((source) => [source.id, source]));
  const casesOf = caseFinder(project);
  const paths = pathsOf(project);
  return {
    title: 'Coded segments',
    columns: [
      'Source',
      'Code',
      'Category',
      'Text',
      'Start',
      'End',
      'Memo',
      'Coder',
      'Date',
      'Important',
      'Cases',
      'Id',
    ],
    rows: project.codings().map((coding) => {
      const code = codes.get(coding.codeId);
      return [
        sources.get(coding.sourceId)?.name ?? '',
        code?.name ?? '',
        code ? paths(code) : '',
        coding.text,
        coding.start,
        coding.end,
        memo(coding.memo),
        coding.owner,
        coding.date,
        coding.important ? 'yes' : '',
        casesOf(coding).join(', '),
        coding.id,
      ];
    }),
  };
}

const memoOf = ({ privateMemos }: TableOptions) => (privateMemos ? (memo: string) => memo : publicMemo);

/** Where a code stands: the names of its categories and parent codes, outermost first. */
function pathsOf(
  project: ProjectReader,
): (code: { readonly categoryId: number | null; readonly parentId: number | null }) => string {
  const categories = new Map(project.categories().map((category) => [category.id, category]));
  const codes = new Map(project.codes().map((code) => [code.id, code]));
  return (code) => {
    const names: string[] = [];
    let parent = code.parentId === null ? undefined : codes.get(code.parentId);
    let categoryId = code.categoryId;
    // A damaged project can hold circles; no real tree is this deep.
    while (parent && names.length < 100) {
      names.unshift(parent.name);
      categoryId = parent.categoryId;
      parent = parent.parentId === null ? undefined : codes.get(parent.parentId);
    }
    for (
      let category = categories.get(categoryId ?? -1);
      category && names.length < 100;
      category = categories.get(category.parentId ?? -1)
    ) {
      names.unshift(category.name);
    }
    return names.join(' / ');
  };
}

function caseFinder(
  project: ProjectReader,
): (coding: { readonly sourceId: number; readonly start: number; readonly end: number }) => string[] {
  const names = new Map(project.cases().map(({ id, name }) => [id, name]));
  const texts = project.caseTexts();
  return ({ sourceId, start, end }) => [
    ...new Set(
      texts
        .filter((item) => item.sourceId === sourceId && item.start < end && item.end > start)
        .map((item) => names.get(item.caseId) ?? ''),
    ),
  ];
}

const TABLE_FORMATS = ['csv', 'xlsx', 'html', 'markdown'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

export const TABLE_CONTENTS = { codebook: codebookTable, segments: segmentsTable } as const;
export type TableContent = keyof typeof TABLE_CONTENTS;

/** The codebook or the coded segments of a project in a format that people read. */
export function exportTable(
  project: ProjectReader,
  content: TableContent,
  format: TableFormat,
  options: TableOptions = {},
): Promise<Uint8Array> {
  return renderTables(
    [TABLE_CONTENTS[content](project, options)],
    format,
    `${project.info().name}: ${content}`,
  );
}

/** Any tables in one file; CSV has room for one only. */
export async function renderTables(
  tables: readonly Table[],
  format: TableFormat,
  title: string,
): Promise<Uint8Array> {
  const [first] = tables;
  switch (format) {
    case 'csv':
      return Buffer.from(first ? toCsv(first) : '');
    case 'xlsx':
      return toXlsx(tables);
    case 'html':
      return Buffer.from(toHtml(tables, title));
    case 'markdown':
      return Buffer.from(toMarkdown(tables, title));
    default:
      return format satisfies never;
  }
}
