import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ToolError } from '../../../contract/errors.ts';
import type { ChangeBy, NewSource, ProjectStore, ProjectWriter } from '../project/types.ts';
import { type Imported, type ImportedDocument, readDocument } from './documents/read-document.ts';
import type { SurveyOptions } from './documents/survey.ts';
import { type ExchangeNote, ExchangeReport, freeName, safeFileName, type Working } from './report.ts';

const TRIES = 50;

/**
 * Adds a source whose original goes into a folder of the project under a name that is free there. A file that lies there without
 * belonging to a source (left by a crash, or put there by hand) is never overwritten.
 */
export function addSourceWithFile(
  project: ProjectWriter,
  source: NewSource,
  folder: 'docs' | 'images' | 'audio' | 'video',
  wanted: string,
): number {
  const used = new Set(project.sources().map(({ mediaPath }) => mediaPath?.toLowerCase()));
  const tried = new Set<string>();
  for (;;) {
    const name = freeName(
      safeFileName(wanted),
      (other) => tried.has(other) || used.has(`/${folder}/${other}`.toLowerCase()),
    );
    try {
      return project.addSource({ ...source, mediaPath: `/${folder}/${name}` });
    } catch (error) {
      const isTaken = error instanceof ToolError && error.code === 'conflict' && source.file !== undefined;
      tried.add(name);
      if (!isTaken || tried.size > TRIES) throw error;
    }
  }
}

export interface DocumentFile {
  /** Bare file name; its ending says how it is read. */
  readonly name: string;
  read(): Promise<Uint8Array>;
}

export interface ImportOptions extends Working {
  readonly survey?: SurveyOptions;
  /** Do not keep the originals in the project's folder. */
  readonly withoutFiles?: boolean;
}

export interface DocumentsImported {
  readonly sources: readonly { readonly id: number; readonly name: string }[];
  readonly cases: number;
  readonly attributes: number;
  readonly notes: readonly ExchangeNote[];
}

/** Reads all files first and then adds them in one transaction: a file that cannot be read leaves the project untouched. */
export async function importDocuments(
  store: ProjectStore,
  by: ChangeBy,
  files: readonly DocumentFile[],
  options: ImportOptions = {},
): Promise<DocumentsImported> {
  const report = new ExchangeReport();
  const read: Imported[] = [];
  for (const [done, file] of files.entries()) {
    options.signal?.throwIfAborted();
    options.progress?.(`Reading ${file.name}`, done, files.length);
    read.push(await readDocument(file.name, await file.read(), report, options));
  }
  options.signal?.throwIfAborted();
  options.progress?.('Adding to the project', files.length, files.length);
  return store.write(by, async (project) => {
    const cases = addCases(project, read);
    const sources: { id: number; name: string }[] = [];
    for (const item of read.flatMap(({ documents }) => documents)) {
      await yieldToEventLoop();
      sources.push(addDocument(project, item, cases, report, options));
    }
    const attributes = addAttributes(project, read, cases, report);
    return { sources, cases: cases.size, attributes, notes: report.notes() };
  });
}

function addDocument(
  project: ProjectWriter,
  item: ImportedDocument,
  cases: ReadonlyMap<string, number>,
  report: ExchangeReport,
  options: ImportOptions,
) {
  const taken = new Map(project.sources().map((source) => [source.name, source.id]));
  const name = freeName(item.name, (other) => taken.has(other));
  if (name !== item.name) report.repaired('Renamed a source, as the project has one of this name', item.name);
  const file = options.withoutFiles ? undefined : item.file;
  const source = { name, text: item.text, ...(item.memo ? { memo: item.memo } : {}) };
  const id = file ? addSourceWithFile(project, { ...source, file }, 'docs', name) : project.addSource(source);
  for (const { caseName, start, end } of item.cases ?? []) {
    const caseId = cases.get(caseName);
    if (caseId !== undefined && end > start) project.addCaseText({ caseId, sourceId: id, start, end });
  }
  return { id, name };
}

function addCases(project: ProjectWriter, read: readonly Imported[]): Map<string, number> {
  const known = new Map(project.cases().map(({ name, id }) => [name, id]));
  const used = new Map<string, number>();
  for (const name of read.flatMap(({ cases }) => cases ?? [])) {
    const id = known.get(name) ?? project.addCase({ name });
    known.set(name, id);
    used.set(name, id);
  }
  return used;
}

function addAttributes(
  project: ProjectWriter,
  read: readonly Imported[],
  cases: ReadonlyMap<string, number>,
  report: ExchangeReport,
): number {
  let added = 0;
  for (const attribute of read.flatMap(({ attributes }) => attributes ?? [])) {
    const other = project
      .attributeTypes()
      .find(({ name, scope }) => name === attribute.name && scope !== 'case');
    const name = other ? `${attribute.name} (case)` : attribute.name;
    if (other)
      report.repaired(
        'Renamed an attribute, as the project uses its name for something else',
        attribute.name,
      );
    project.addAttributeType({ name, scope: 'case', valueType: attribute.valueType });
    for (const [caseName, value] of attribute.values) {
      const targetId = cases.get(caseName);
      if (targetId !== undefined && value) project.setAttribute({ name, scope: 'case', targetId, value });
    }
    added += 1;
  }
  return added;
}
