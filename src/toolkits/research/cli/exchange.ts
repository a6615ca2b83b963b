import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import {
  type ActOptions,
  CliError,
  type CommandApp,
  type CommandHost,
  type DataOf,
} from '../../../contract/command.ts';
import { homePath } from '../../../lib/file-error.ts';
import { print, printJson, startProgress } from '../../../terminal/output.ts';
import { counted, oneLine, plainText } from '../../../terminal/text.ts';
import type { ExchangeNote } from '../exchange/report.ts';
import type { PrivacyRules } from '../privacy/rules.ts';
import type { ResearchServices } from '../services.ts';
import { importFiles as importFilesTool } from '../tools/import-files.ts';
import { views } from '../views.ts';

const IMPORTED = ['.txt', '.md', '.docx', '.pdf', '.srt', '.vtt', '.csv', '.qdpx', '.sqlite3', '.qdc'];

/** Documents, a REFI-QDA project or a codebook, as one change that can be undone. */
export function importFiles(host: CommandHost, given: readonly string[], options: ActOptions): Promise<void> {
  return host.open(async (app) => {
    const files = given.map(homePath);
    for (const file of files) {
      if (!IMPORTED.includes(extname(file).toLowerCase()))
        throw new CliError(`Cannot import ${file}. Supported file types: ${IMPORTED.join(', ')}.`, 2);
      if (!existsSync(file)) throw new CliError(`File ${file} not found.`);
    }
    const before = await casesOf(app);
    const acted = await app.act(importFilesTool, { paths: files }, options);
    const cases = acted.outcome.status === 'ok' ? (await casesOf(app)) - before : 0;
    app.printOutcome(acted, (data) =>
      [
        `Imported ${whatCame(data, cases)}.`,
        ...data.sources.slice(0, SHOWN).map(({ id, name }) => `  ${id}  ${oneLine(name)}`),
        ...(data.sources.length > SHOWN ? [`  … and ${data.sources.length - SHOWN} more`] : []),
        ...data.notes.map(noteLine),
        'To undo it: countersign research undo',
      ].join('\n'),
    );
  });
}

const SHOWN = 10;

/** A survey's rows become cases, which the tool's reply does not count. */
async function casesOf(app: CommandApp): Promise<number> {
  const shown = await app.view(views, 'project');
  return shown.project_open ? shown.case_count : 0;
}

type Imported = DataOf<typeof importFilesTool>;

const whatCame = (data: Imported, cases: number): string =>
  [
    data.source_count > 0 && counted(data.source_count, 'source'),
    data.code_count > 0 && counted(data.code_count, 'code'),
    data.coding_count > 0 && counted(data.coding_count, 'coding'),
    cases > 0 && counted(cases, 'case'),
  ]
    .filter(Boolean)
    .join(', ') || 'nothing new';

const EXPORT_FORMATS = ['qdpx', 'qdc', 'csv', 'xlsx', 'html', 'md'] as const;
type ExportFormat = (typeof EXPORT_FORMATS)[number];
const EXPORT_CONTENTS = ['segments', 'codebook'] as const;
type Content = (typeof EXPORT_CONTENTS)[number];

interface ExportOptions {
  readonly format?: string;
  readonly content?: string;
  readonly privateMemos?: boolean;
  /** `--no-media`. */
  readonly media?: boolean;
  readonly force?: boolean;
}

/** Writes the project, its codebook or its coded segments to a file, and says what the format could not hold. */
export function exportProject(
  host: CommandHost,
  file: string | undefined,
  options: ExportOptions,
): Promise<void> {
  return host.open(async (app) => {
    const format = formatOf(file, options.format);
    const { projects, privacy } = await app.services<ResearchServices>();
    const project = await projects.current();
    const path = homePath(
      file ?? `${project.store.info().name.replace(/\.qda$/, '')}${suffix(format, options)}`,
    );
    if (existsSync(path) && !options.force)
      throw new CliError(`${path} already exists. Choose another file, or use --force to overwrite it.`);
    const written = await write(app, project.store, path, format, options);
    const notes =
      format === 'qdpx'
        ? [...written, ...leftBehind(await privacy.rules(project.id), project.store)]
        : written;
    await app.note('read', {
      research_export: {
        project: project.id,
        format,
        content: contentsOf(format, options).join(','),
        private_memos: options.privateMemos === true,
      },
    });
    if (host.options.json) return printJson({ path, format, notes });
    print(`Wrote ${path}`);
    for (const note of notes) print(plainText(noteLine(note)));
    if (options.privateMemos) print('The file contains the private part of memos. Do not share it.');
  });
}

/** What keeps agents from names and sources belongs to the project it was set for, and no format has a place for it. */
function leftBehind({ offLimits, names }: PrivacyRules, reader: Reader): ExchangeNote[] {
  const again = 'set it again in a project created from this file before agents read it';
  const sources = [...offLimits].map((id) => reader.source(id)?.name ?? String(id));
  const marks = { kind: 'lost', what: `the off-limits mark of a source; ${again}` } as const;
  const map = { kind: 'lost', what: `the pseudonym for a name; ${again}` } as const;
  return [
    ...(sources.length > 0 ? [{ ...marks, count: sources.length, where: sources.slice(0, 5) }] : []),
    ...(names.length > 0 ? [{ ...map, count: names.length, where: [] }] : []),
  ];
}

type Reader = Awaited<ReturnType<ResearchServices['projects']['current']>>['store'];

async function write(
  app: CommandApp,
  reader: Reader,
  path: string,
  format: ExportFormat,
  options: ExportOptions,
): Promise<readonly ExchangeNote[]> {
  const { privateMemos } = options;
  const cancel = new AbortController();
  const stop = (): void => cancel.abort();
  process.once('SIGINT', stop);
  const progress = startProgress();
  try {
    if (format === 'qdpx') {
      const { exportQdpx } = await import('../exchange/export-qdpx.ts');
      const { notes } = await exportQdpx(reader, path, {
        privateMemos,
        withoutMedia: options.media === false,
        now: app.now(),
        signal: cancel.signal,
        progress: progress.show,
      });
      return notes;
    }
    const { writeFileWhole } = await import('../exchange/report.ts');
    if (format === 'qdc') {
      const { exportCodebook } = await import('../exchange/codebook.ts');
      const { xml, notes } = exportCodebook(reader, { privateMemos });
      await writeFileWhole(path, xml, cancel.signal);
      return notes;
    }
    const { renderTables, TABLE_CONTENTS } = await import('../exchange/tables/project-tables.ts');
    const tables = contentsOf(format, options).map((content) =>
      TABLE_CONTENTS[content](reader, { privateMemos }),
    );
    const body = await renderTables(tables, format === 'md' ? 'markdown' : format, reader.info().name);
    await writeFileWhole(path, body, cancel.signal);
    return [];
  } finally {
    progress.end();
    process.off('SIGINT', stop);
  }
}

function formatOf(file: string | undefined, given: string | undefined): ExportFormat {
  const named = given ?? (file ? extname(file).slice(1).toLowerCase() : '');
  const format = EXPORT_FORMATS.find((known) => known === named);
  if (format) return format;
  throw new CliError(
    `Specify the format with --format ${EXPORT_FORMATS.join('|')}, or with the file extension.`,
    2,
  );
}

/** A CSV file has room for one table, the others for all. */
function contentsOf(format: ExportFormat, { content }: ExportOptions): readonly Content[] {
  if (format === 'qdpx' || format === 'qdc') return [];
  const named = EXPORT_CONTENTS.find((known) => known === content);
  if (named) return [named];
  return format === 'csv' ? ['segments'] : ['codebook', 'segments'];
}

function suffix(format: ExportFormat, options: ExportOptions): string {
  const contents = contentsOf(format, options);
  return contents.length === 1 ? `-${contents[0]}.${format}` : `.${format}`;
}

const noteLine = ({ kind, what, count: times, where }: ExchangeNote): string =>
  `  ${kind === 'lost' ? 'Lost' : 'Repaired'}: ${what}${times > 1 ? ` (${times} times)` : ''}${where.length > 0 ? `: ${where.join(', ')}` : ''}`;
