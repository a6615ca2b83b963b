import { ToolError } from '../../../contract/errors.ts';
import type { ChangeBy, ProjectStore } from '../project/types.ts';
import { readDocx } from './documents/read-document.ts';
import { pageHeights } from './refi/conventions.ts';
import type { RefiContents } from './refi/import-context.ts';
import { importRefiProject, type RefiImported } from './refi/import-project.ts';
import type { RefiProject, RefiText } from './refi/model.ts';
import { type OpenedQdpx, openQdpx } from './refi/qdpx.ts';
import { decodeText, type ExchangeNote, ExchangeReport, type Working } from './report.ts';

export interface ImportQdpxOptions extends Working {
  /** Recordings and pictures larger than this together stay outside; texts always come in. */
  readonly mostMediaBytes?: number;
}

const MOST_MEDIA = 1_000_000_000;
const LARGEST_TEXT = 100_000_000;

export interface QdpxImported extends RefiImported {
  /** The program that wrote the file. */
  readonly origin: string;
  readonly notes: readonly ExchangeNote[];
}

/** Adds the project in a .qdpx file to an open one, in a single transaction. */
export async function importQdpx(
  store: ProjectStore,
  by: ChangeBy,
  file: string | Uint8Array,
  options: ImportQdpxOptions = {},
): Promise<QdpxImported> {
  const report = new ExchangeReport();
  options.progress?.('Reading the archive', 0, 1);
  const opened = await openQdpx(file, report, options);
  try {
    const contents = await readContents(opened, report, options);
    options.signal?.throwIfAborted();
    const imported = await store.write(by, (project) =>
      importRefiProject(project, contents, report, options),
    );
    return { ...imported, origin: opened.refi.origin, notes: report.notes() };
  } finally {
    opened.close();
  }
}

async function readContents(
  opened: OpenedQdpx,
  report: ExchangeReport,
  options: ImportQdpxOptions,
): Promise<RefiContents> {
  const { refi } = opened;
  const wanted = [...new Set([...textPaths(refi), ...mediaPaths(refi)])];
  const texts = new Map<string, string>();
  const files = new Map<string, Uint8Array>();
  const isText = new Set(textPaths(refi));
  let room = options.mostMediaBytes ?? MOST_MEDIA;
  for (const [done, path] of wanted.entries()) {
    options.signal?.throwIfAborted();
    options.progress?.('Reading the sources', done, wanted.length);
    if (!isText.has(path)) {
      room -= opened.sizeOf(path);
      if (room < 0) {
        report.lost('Omitted a file, as recordings and pictures together are too large', path);
        continue;
      }
    }
    if (isText.has(path) && opened.sizeOf(path) > LARGEST_TEXT) {
      report.lost(`Omitted a text of more than ${LARGEST_TEXT} bytes`, path);
      continue;
    }
    const bytes = await opened.read(path, options.signal);
    if (!bytes) continue;
    if (!isText.has(path)) {
      files.set(path, bytes);
      continue;
    }
    const { text, encoding } = decodeText(bytes);
    if (encoding !== 'utf-8') report.repaired(`Read a text as ${encoding.toUpperCase()}`, path);
    texts.set(path, text);
  }
  await readWordTexts(refi, texts, files, report, options);
  return { refi, texts, files, pageHeights: await heights(refi, files, options.signal) };
}

/** Where a program left the plain text out, the Word document has it. */
async function readWordTexts(
  refi: RefiProject,
  texts: Map<string, string>,
  files: ReadonlyMap<string, Uint8Array>,
  report: ExchangeReport,
  options: Working,
): Promise<void> {
  for (const source of refi.sources) {
    if (source.kind !== 'text' || source.content !== undefined) continue;
    const { plainTextPath = '', richTextPath = '' } = source;
    const bytes = texts.has(plainTextPath) ? undefined : files.get(richTextPath);
    if (!bytes || !/\.docx$/i.test(richTextPath)) continue;
    try {
      texts.set(richTextPath, await readDocx(bytes, source.name, report, options));
    } catch (error) {
      // It is reported below as a document without a text.
      if (!(error instanceof ToolError)) throw error;
    }
  }
}

const textsOf = (refi: RefiProject): RefiText[] => [
  ...refi.notes,
  ...refi.sources.flatMap((source) => (source.kind === 'text' ? [source] : source.texts)),
];

const textPaths = (refi: RefiProject): string[] =>
  textsOf(refi).flatMap(({ plainTextPath, content }) =>
    plainTextPath && content === undefined ? [plainTextPath] : [],
  );

const mediaPaths = (refi: RefiProject): string[] =>
  refi.sources.flatMap((source) => {
    const path = source.kind === 'text' ? source.richTextPath : source.path;
    return path ? [path] : [];
  });

async function heights(
  refi: RefiProject,
  files: ReadonlyMap<string, Uint8Array>,
  signal?: AbortSignal,
): Promise<Map<string, readonly number[]>> {
  const found = new Map<string, readonly number[]>();
  for (const source of refi.sources) {
    if (source.kind !== 'pdf' || source.areas.length === 0) continue;
    signal?.throwIfAborted();
    const bytes = files.get(source.path ?? '');
    const pages = bytes ? await pageHeights(bytes, source.name, signal) : undefined;
    if (pages) found.set(source.guid, pages);
  }
  return found;
}
