import type { ProjectReader } from '../project/types.ts';
import { toCsv } from './tables/csv.ts';
import { toHtml } from './tables/html.ts';
import { toMarkdown } from './tables/markdown.ts';
import { codebookTable, segmentsTable, type TableOptions } from './tables/project-tables.ts';
import type { Table } from './tables/table.ts';
import { toXlsx } from './tables/xlsx.ts';

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
