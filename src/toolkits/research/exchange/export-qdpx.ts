import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { placeInProject } from '../project/create.ts';
import type { ProjectReader } from '../project/types.ts';
import { pageHeights } from './refi/conventions.ts';
import { toRefi } from './refi/from-project.ts';
import { writeRefiProject } from './refi/write-project.ts';
import { type ExchangeNote, ExchangeReport, type Working, writeFileWhole } from './report.ts';

export interface ExportQdpxOptions extends Working {
  /** Also what stands behind ##### in memos. */
  readonly privateMemos?: boolean;
  /** Without recordings, pictures and PDF files: only texts and codings. */
  readonly withoutMedia?: boolean;
  /** Time stamp of the files in the archive; the same project and time give the same bytes. */
  readonly now?: Date;
}

/** Writes a project as REFI-QDA (.qdpx), for other programs or for safe keeping. */
export async function exportQdpx(
  project: ProjectReader,
  path: string,
  options: ExportQdpxOptions = {},
): Promise<{ readonly notes: readonly ExchangeNote[] }> {
  const report = new ExchangeReport();
  const folder = project.info().path;
  const fileOf = (mediaPath: string) => join(folder, placeInProject(mediaPath));
  const hasFile = (mediaPath: string) =>
    !options.withoutMedia && isInside(mediaPath) && existsSync(fileOf(mediaPath));
  const { refi, places } = toRefi(project, {
    report,
    hasFile,
    pageHeights: await heightsOf(project, hasFile, fileOf, options),
    ...(options.privateMemos ? { privateMemos: true } : {}),
  });
  const { default: yazl } = await import('yazl');
  const archive = new yazl.ZipFile();
  const mtime = options.now ?? new Date();
  archive.addBuffer(Buffer.from(writeRefiProject(refi)), 'project.qde', { mtime });
  for (const [done, place] of places.entries()) {
    options.signal?.throwIfAborted();
    options.progress?.('Packing the sources', done, places.length);
    const name = `sources/${place.name}`;
    if ('text' in place) archive.addBuffer(Buffer.from(place.text), name, { mtime });
    // Recordings and pictures are compressed already.
    else
      archive.addFile(fileOf(place.mediaPath), name, {
        mtime,
        compress: /\.(pdf|docx|bmp|wav)$/i.test(place.name),
      });
  }
  archive.end();
  options.progress?.('Writing the archive', places.length, places.length);
  // Its declared type is the older stream interface.
  await writeFileWhole(path, archive.outputStream as Readable, options.signal);
  return { notes: report.notes() };
}

const isInside = (mediaPath: string): boolean => /^\/(docs|images|audio|video)\/[^/\\]+$/.test(mediaPath);

/** Only PDFs with coded areas need their page sizes. */
async function heightsOf(
  project: ProjectReader,
  hasFile: (mediaPath: string) => boolean,
  fileOf: (mediaPath: string) => string,
  { signal }: Working,
): Promise<Map<number, readonly number[]>> {
  const heights = new Map<number, readonly number[]>();
  const coded = new Set(project.imageCodings().map(({ sourceId }) => sourceId));
  for (const { id, type, mediaPath } of project.sources()) {
    if (type !== 'pdf' || !coded.has(id) || !mediaPath || !hasFile(mediaPath)) continue;
    signal?.throwIfAborted();
    const found = await pageHeights(await readFile(fileOf(mediaPath)), mediaPath, signal);
    if (found) heights.set(id, found);
  }
  return heights;
}
