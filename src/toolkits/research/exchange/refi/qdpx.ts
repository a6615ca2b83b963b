import { basename } from 'node:path';
import { ToolFault } from '../../../../contract/faults.ts';
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
      throw new ToolFault('validation_error', `${name} is larger than ${LARGEST_XML} bytes.`);
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
    const why = /memory/i.test(error.message) ? 'it needs more memory than is there' : 'it is damaged';
    throw new ToolFault('validation_error', `${name} cannot be read: ${why}.`, { cause: error });
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
  if (!only) throw new ToolFault('validation_error', 'The archive holds no REFI-QDA project (no .qde file).');
  if (second && second.split('/').length === only.split('/').length) {
    throw new ToolFault(
      'validation_error',
      `The archive holds several projects (${others.slice(0, 4).join(', ')}); a .qdpx file holds one.`,
    );
  }
  report.repaired('Read a project file that is not named project.qde', only);
  return only;
}

function fileOf(archive: Archive, path: string, report: ExchangeReport): string | undefined {
  const match = /^internal:\/\/\/?(.+)$/i.exec(path.trim());
  if (!match?.[1]) return undefined;
  const wanted = safeDecode(match[1]);
  const exact = archive.find(`sources/${wanted}`);
  if (exact !== undefined) {
    if (exact !== `sources/${wanted}`) report.repaired('Found a file under a name in other capitals', exact);
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
  if (found !== undefined) report.repaired('Found a file under another name or in another folder', found);
  return found;
}

function safeDecode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
