import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { READ_PROFILES } from '../../../contract/tool.ts';
import type { PrivacyView } from '../privacy/privacy-view.ts';
import { noCode } from '../project/checks.ts';
import { type Cited, centralSentences } from '../retrieval/summarise.ts';
import { defineResearchTool } from '../services.ts';
import { openSession } from '../session.ts';
import { excerpt, id } from './shapes.ts';

export const summarizeSegments = defineResearchTool({
  name: 'summarize_segments',
  title: 'Summarize a code or source',
  summary:
    'Summarize what is coded with a code, or a source, by its most central sentences, each cited with source and position. A configured model words it.',
  effect: 'read',
  reach: 'local',
  category: 'analysis',
  profiles: READ_PROFILES,
  errors: ['no_project', 'code_not_found', 'source_not_found', 'invalid_position', 'validation_error'],
  deadlineMs: 300_000,
  input: z.object({
    code_id: id().optional(),
    source_id: id().optional(),
    max_sentences: z.int().min(1).max(30).default(6),
  }),
  output: z.object({
    of: z.string(),
    segment_count: z.int(),
    summary: z.string().describe('Numbers in brackets refer to the citations.'),
    citations: z.array(
      z.object({
        number: z.int(),
        source_id: z.int(),
        source_name: z.string(),
        start_pos: z.int(),
        end_pos: z.int(),
        text: z.string(),
      }),
    ),
    method: z.string(),
    note: z.string().optional(),
  }),

  async run({ code_id, source_id, max_sentences }, context) {
    const { lens, project } = await openSession(context, source_id ?? 'all');
    const { services, signal } = context;
    if (code_id === undefined && source_id === undefined)
      throw new ToolError('validation_error', 'Give code_id, source_id or both.');
    const { of, parts } = partsOf(lens, code_id, source_id);
    const cited = await centralSentences(parts, max_sentences, signal);
    const citations = cited.map((item, at) => ({ number: at + 1, ...showCited(lens, item) }));
    const extract = citations.map(({ number, text }) => `${text} [${number}]`).join('\n');
    const rules = await services.privacy.rules(project.id);
    const hidden = parts.some(({ sourceId }) => rules.offLimits.has(sourceId));
    const answer = hidden ? undefined : await services.analysis.wordSummary(rules, of, citations, signal);
    return {
      of: lens.mask(of),
      segment_count: parts.length,
      summary: answer?.summary ?? extract,
      citations,
      method: answer?.summary ? `extractive, worded by ${answer.model}` : 'extractive',
      ...(answer?.note ? { note: answer.note } : {}),
    };
  },
});

function partsOf(lens: PrivacyView, codeId: number | undefined, sourceId: number | undefined) {
  const { reader } = lens;
  const source = sourceId === undefined ? undefined : lens.source(sourceId);
  if (codeId === undefined) {
    const text = lens.text(sourceId ?? 0);
    return {
      of: `source ${source?.name ?? ''}`,
      parts: [{ sourceId: sourceId ?? 0, text, start: 0, end: text.length }],
    };
  }
  const code = reader.code(codeId);
  if (!code) throw noCode(codeId);
  const codings = reader.codings({ codeId, ...(sourceId === undefined ? {} : { sourceId }) });
  return {
    of: `code ${code.name}${source ? ` in ${source.name}` : ''}`,
    parts: codings
      .filter(({ anchored }) => anchored)
      .map(({ sourceId: from, start, end }) => ({ sourceId: from, text: lens.text(from), start, end })),
  };
}

const showCited = (lens: PrivacyView, { sourceId, start, end }: Cited) => ({
  source_id: sourceId,
  source_name: lens.mask(lens.source(sourceId).name),
  start_pos: start,
  end_pos: end,
  text: lens.passage(sourceId, start, end).content,
});

export const exportCodebookTool = defineResearchTool({
  name: 'export_codebook',
  title: 'Export the codebook',
  summary: 'The codebook with categories, definitions, numbers of segments and examples, as Markdown or CSV.',
  effect: 'read',
  reach: 'local',
  category: 'coding',
  profiles: READ_PROFILES,
  errors: ['no_project'],
  input: z.object({
    format: z.enum(['markdown', 'csv']).default('markdown'),
    examples: z.int().min(0).max(10).default(2).describe('Examples for each code.'),
  }),
  output: z.object({ format: z.string(), code_count: z.int(), codebook: z.string() }),

  async run({ format, examples }, context) {
    const { lens } = await openSession(context, 'all');
    const rows = codebookRows(lens, examples);
    return {
      format,
      code_count: rows.length,
      codebook: format === 'csv' ? toCsv(rows) : toMarkdown(lens.reader.info().name, rows),
    };
  },
});

interface CodebookRow {
  readonly category: string;
  readonly name: string;
  readonly definition: string;
  readonly segments: number;
  readonly sources: number;
  readonly examples: readonly string[];
}

function codebookRows(lens: PrivacyView, examples: number): CodebookRow[] {
  const { reader } = lens;
  const categories = new Map(reader.categories().map((item) => [item.id, item]));
  const pathOf = (of: number | null): string => {
    const item = of === null ? undefined : categories.get(of);
    return item ? [pathOf(item.parentId), lens.mask(item.name)].filter(Boolean).join(' > ') : '';
  };
  const counts = reader.codingCounts();
  return reader
    .codes()
    .map((code) => {
      const codings = reader.codings({ codeId: code.id });
      const shown = typical(
        codings.map((coding) => ({ coding, text: lens.codingText(coding) })),
        examples,
      );
      return {
        category: pathOf(code.categoryId),
        name: lens.mask(code.name),
        definition: lens.mask(code.memo),
        segments: counts.get(code.id) ?? 0,
        sources: new Set(codings.map(({ sourceId }) => sourceId)).size,
        examples: shown.map(
          ({ coding, text }) =>
            `“${excerpt(text, 200)}” (${lens.mask(reader.source(coding.sourceId)?.name ?? '')})`,
        ),
      };
    })
    .sort((a, b) => a.category.localeCompare(b.category) || a.name.localeCompare(b.name));
}

/** Segments that are neither a word nor a page, from different places. */
function typical<T extends { readonly text: string }>(items: readonly T[], most: number): T[] {
  const fitting = items.filter(({ text }) => text.length >= 30 && text.length <= 400);
  const from = fitting.length >= most ? fitting : items;
  const step = Math.max(1, Math.floor(from.length / Math.max(1, most)));
  return from.filter((_, at) => at % step === 0).slice(0, most);
}

function toMarkdown(project: string, rows: readonly CodebookRow[]): string {
  const lines = [`# Codebook of ${project}`];
  let category: string | undefined;
  for (const row of rows) {
    if (row.category !== category) lines.push('', `## ${row.category || 'Without category'}`);
    category = row.category;
    lines.push('', `### ${row.name}`, '', row.definition || 'No definition.', '');
    lines.push(`Segments: ${row.segments} in ${row.sources} source(s)`);
    for (const example of row.examples) lines.push(`- ${example}`);
  }
  return `${lines.join('\n')}\n`;
}

function toCsv(rows: readonly CodebookRow[]): string {
  // A cell that a spreadsheet would run as a formula is made text.
  const cell = (value: string | number) => {
    const text = String(value);
    return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  };
  const head = ['category', 'code', 'definition', 'segments', 'sources', 'examples'];
  const body = rows.map((row) => [
    row.category,
    row.name,
    row.definition,
    row.segments,
    row.sources,
    row.examples.join('\n'),
  ]);
  return [head, ...body].map((cells) => cells.map(cell).join(',')).join('\r\n');
}
