import type { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import { ToolError } from '../../../contract/errors.ts';

export interface ArchiveLimits {
  readonly entries: number;
  /** Bytes of all files together, unpacked. */
  readonly total: number;
  /** A file that unpacks to more than this many times its size is a bomb, once it is large. */
  readonly ratio: number;
}

const ARCHIVE_LIMITS: ArchiveLimits = { entries: 20_000, total: 2_147_483_647, ratio: 200 };

const LARGE = 20_000_000;
const SYMBOLIC_LINK = 0o120000;

/** A ZIP file whose directory was read and found harmless. Nothing is ever written to the places its entries name. */
export class Archive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  static async open(
    file: string | Uint8Array,
    limits: ArchiveLimits = ARCHIVE_LIMITS,
    otherwise = 'This is not a ZIP archive, or it is damaged.',
  ): Promise<Archive> {
    const { default: yauzl } = await import('yauzl');
    const options = {
      lazyEntries: true,
      autoClose: false,
      decodeStrings: true,
      validateEntrySizes: true,
      strictFileNames: false,
    };
    const zip = await new Promise<ZipFile>((resolve, reject) => {
      const done = (error: Error | null, opened?: ZipFile) =>
        opened && !error
          ? resolve(opened)
          : reject(new ToolError('validation_error', otherwise, { cause: error }));
      if (typeof file === 'string') yauzl.open(file, options, done);
      else yauzl.fromBuffer(Buffer.from(file.buffer, file.byteOffset, file.byteLength), options, done);
    });
    try {
      return new Archive(zip, await readDirectory(zip, limits));
    } catch (error) {
      zip.close();
      throw error;
    }
  }

  names(): string[] {
    return [...this.#entries.keys()];
  }

  /** Exactly this name, or the one that differs only in capitals: programs disagree about `Sources/`. */
  find(name: string): string | undefined {
    if (this.#entries.has(name)) return name;
    const wanted = name.toLowerCase();
    return this.names().find((other) => other.toLowerCase() === wanted);
  }

  size(name: string): number {
    return this.#entries.get(name)?.uncompressedSize ?? 0;
  }

  async read(name: string, signal?: AbortSignal): Promise<Uint8Array> {
    const entry = this.#entries.get(name);
    if (!entry) throw new ToolError('not_found', `The archive does not contain the file ${name}.`);
    const stream = await new Promise<Readable>((resolve, reject) => {
      this.#zip.openReadStream(entry, (error, opened) =>
        opened && !error ? resolve(opened) : reject(damaged(name, error)),
      );
    });
    const parts: Buffer[] = [];
    try {
      for await (const part of stream) {
        signal?.throwIfAborted();
        parts.push(part as Buffer);
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw damaged(name, error);
    } finally {
      stream.destroy();
    }
    return Buffer.concat(parts);
  }

  close(): void {
    this.#zip.close();
  }
}

function readDirectory(zip: ZipFile, limits: ArchiveLimits): Promise<Map<string, Entry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    let total = 0;
    zip.on('error', (error) => reject(refused(describe(error))));
    zip.on('end', () => resolve(entries));
    zip.on('entry', (entry: Entry) => {
      total += entry.uncompressedSize;
      const problem = problemOf(entry, entries, total, limits);
      if (problem) {
        reject(refused(problem));
        return;
      }
      if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry);
      zip.readEntry();
    });
    zip.readEntry();
  });
}

function problemOf(
  entry: Entry,
  known: ReadonlyMap<string, Entry>,
  total: number,
  limits: ArchiveLimits,
): string | undefined {
  const name = entry.fileName;
  if (/\p{Cc}/u.test(name)) return 'it contains a file whose name has control characters';
  if (((entry.externalFileAttributes >>> 16) & 0o170000) === SYMBOLIC_LINK)
    return `"${name}" is a symbolic link`;
  if (entry.generalPurposeBitFlag & 1) return `"${name}" is encrypted`;
  if (known.has(name)) return `it contains two files named "${name}"`;
  if (known.size >= limits.entries) return `it contains more than ${limits.entries} files`;
  if (total > limits.total) return `it unpacks to more than ${limits.total} bytes`;
  if (
    entry.uncompressedSize > LARGE &&
    entry.uncompressedSize > limits.ratio * Math.max(1, entry.compressedSize)
  ) {
    return `"${name}" unpacks to more than ${limits.ratio} times its size, like a ZIP bomb`;
  }
  return undefined;
}

const describe = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  if (/absolute path|invalid relative path|invalid characters/.test(text))
    return `it contains a path that leaves the archive (${text.slice(0, 120)})`;
  return `its directory is unreadable (${text.slice(0, 120)})`;
};

const refused = (why: string): ToolError =>
  new ToolError('validation_error', `The archive was refused: ${why}.`);
const damaged = (name: string, cause: unknown): ToolError =>
  new ToolError(
    'validation_error',
    `The file ${name} in the archive is damaged or larger than the archive says.`,
    { cause },
  );
