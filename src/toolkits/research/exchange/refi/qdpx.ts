import { basename } from 'node:path';
import { ToolError } from '../../../../contract/errors.ts';
import { Archive } from '../archive.ts';
import { readInWorker, UnreadableDocument } from '../documents/read-in-worker.ts';
import type { ExchangeReport, Working } from '../report.ts';
import type { RefiProject } from './model.ts';

/** An opened .qdpx: what its XML says, and its files by the paths that the XML uses. */
export interface OpenedQdpx {
  readonly refi: RefiProject;
  /** Undefined when the path leads outside the archive or nowhere. */
  read(path: string, signal?: AbortSignal): Promise<Uint8Array | undefined>;
  sizeOf(path: string): number;
  close(): void;
}

const LARGEST_XML = 300_000_000;

export async function openQdpx(
  file: string | Uint8Array,
  report: ExchangeReport,
  working: Working = {},
): Promise<OpenedQdpx> {
  const what = typeof file === 'string' ? basename(file) : 'The file';
  const archive = await Archive.open(
    file,
    undefined,
    `${what} is not a REFI-QDA project (.qdpx), or it is damaged.`,
  );
  try {
    const name = projectFile(archive, report);
    if (archive.size(name) > LARGEST_XML)
      throw new ToolError('validation_error', `${name} is larger than ${LARGEST_XML} bytes.`);
    const bytes = await archive.read(name, working.signal);
    working.progress?.('Reading the project file', 0, 1);
    const { refi, encoding, bom } = await readProject(bytes, name, working);
    if (encoding !== 'utf-8') report.repaired(`Read the project file as ${encoding.toUpperCase()}`, name);
    if (bom) report.repaired('Removed a byte order mark', name);
    const find = (path: string) => fileOf(archive, path, report);
    return {
      refi,
      read: async (path, signal) => {
        const entry = find(path);
        return entry === undefined ? undefined : archive.read(entry, signal);
      },
      sizeOf: (path) => {
        const entry = find(path);
        return entry === undefined ? 0 : archive.size(entry);
      },
      close: () => archive.close(),
    };
  } catch (error) {
    archive.close();
    throw error;
  }
}

async function readProject(bytes: Uint8Array, name: string, { signal }: Working) {
  try {
    return await readInWorker('qde', bytes, name, signal);
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    const why = /memory/i.test(error.message) ? 'it needs more memory than is available' : 'it is damaged';
    throw new ToolError('validation_error', `Cannot read ${name}: ${why}.`, { cause: error });
  }
}

/** The standard says `project.qde` at the root; real programs name it after the project. */
function projectFile(archive: Archive, report: ExchangeReport): string {
  const exact = archive.find('project.qde');
  if (exact) return exact;
  const others = archive.names().filter((name) => name.toLowerCase().endsWith('.qde'));
  const [only, second] = others.sort(
    (a, b) => a.split('/').length - b.split('/').length || a.length - b.length,
  );
  if (!only)
    throw new ToolError('validation_error', 'The archive contains no REFI-QDA project (no .qde file).');
  if (second && second.split('/').length === only.split('/').length) {
    throw new ToolError(
      'validation_error',
      `The archive contains several projects (${others.slice(0, 4).join(', ')}); a .qdpx file contains one.`,
    );
  }
  report.repaired('Read a project file that is not named project.qde', only);
  return only;
}

function fileOf(archive: Archive, path: string, report: ExchangeReport): string | undefined {
  const wanted = safeDecode(placeOf(path.trim(), report) ?? '');
  if (!wanted) return undefined;
  const exact = archive.find(`sources/${wanted}`);
  if (exact !== undefined) {
    if (exact !== `sources/${wanted}`)
      report.repaired('Found a file under a name with different capitals', exact);
    return exact;
  }
  const bare = basename(wanted).toLowerCase();
  const stem = bare.replace(/\.[^.]+$/, '');
  const names = archive.names();
  const found =
    names.find((name) => basename(name).toLowerCase() === bare) ??
    names.find(
      (name) =>
        basename(name)
          .toLowerCase()
          .replace(/\.[^.]+$/, '') === stem && !name.endsWith('.qde'),
    );
  if (found !== undefined) report.repaired('Found a file under another name or in another directory', found);
  return found;
}

/** The standard says `internal://name`; at least one program writes the name alone. */
function placeOf(path: string, report: ExchangeReport): string | undefined {
  const internal = /^internal:\/\/\/?(.+)$/i.exec(path)?.[1];
  if (internal !== undefined) return internal;
  if (/^[a-z][a-z0-9+.-]+:/i.test(path) || path.startsWith('/')) return undefined;
  const name = path.replace(/^(\.\/)?(sources\/)?/i, '');
  if (name) report.repaired('Read a text from the sources of the archive, as its path has no scheme', name);
  return name;
}

function safeDecode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
