import { extname } from 'node:path';
import { addSourceWithFile } from '../import-documents.ts';
import { freeName } from '../report.ts';
import { TRANSCRIPT_LINK } from './conventions.ts';
import { type ImportContext, joinMemo } from './import-context.ts';
import { importAreas, importClips, importSelections } from './import-text.ts';
import type { RefiMediaSource, RefiSource, RefiText } from './model.ts';
import { type ReadPositions, readPositions } from './text-positions.ts';

const FOLDER = { text: 'docs', pdf: 'docs', picture: 'images', audio: 'audio', video: 'video' } as const;
const ENDING = { text: '.docx', pdf: '.pdf', picture: '.png', audio: '.mp3', video: '.mp4' } as const;

/** Adds a source with its text, file, codings and values. */
export function importSource(context: ImportContext, source: RefiSource): Promise<void> {
  return source.kind === 'text' ? importTextSource(context, source) : importMediaSource(context, source);
}

async function importTextSource(
  context: ImportContext,
  source: RefiText & { readonly kind: 'text' },
): Promise<void> {
  const raw = rawText(context, source, source.name);
  if (raw === undefined) {
    context.report.lost('Omitted a document whose text is not in the file', source.name);
    context.report.lostCodings(codingsOf(source), source.name);
    return;
  }
  const positions = readText(context, raw, source, source.name);
  if (source.content === undefined && !context.contents.texts.has(source.plainTextPath ?? ''))
    context.report.repaired(
      'Read the text from the Word document, as the plain text is missing',
      source.name,
    );
  const file = source.richTextPath ? context.contents.files.get(source.richTextPath) : undefined;
  const added = addSource(context, source, positions.text.value, file, source.richTextPath);
  await importSelections(context, added.id, added.name, source, positions);
  if (source.plainTextPath) context.texts.set(source.plainTextPath, added);
}

async function importMediaSource(context: ImportContext, source: RefiMediaSource): Promise<void> {
  const file = source.path ? context.contents.files.get(source.path) : undefined;
  if (!file)
    context.report.lost('Imported a source without its file, which is not in the archive', source.name);
  const [first, ...others] = source.texts;
  const ownText = source.kind === 'pdf' && first ? rawText(context, first, source.name) : undefined;
  const positions =
    first && ownText !== undefined ? readText(context, ownText, first, source.name) : undefined;
  if (source.kind === 'pdf' && !positions && !file) {
    context.report.lost('Omitted a PDF whose text and file are both missing', source.name);
    context.report.lostCodings(allCodings(source), source.name);
    return;
  }
  const text = source.kind === 'pdf' ? (positions?.text.value ?? '') : null;
  const added = addSource(context, source, text, file, source.path);
  if (first && positions) await importSelections(context, added.id, added.name, first, positions);
  else if (first && source.kind === 'pdf') context.report.lostCodings(codingsOf(first), source.name);
  const extra = source.kind === 'pdf' ? others : source.texts;
  for (const item of extra) await importCompanion(context, source, added, item);
  importAreas(context, source, added);
  importClips(context, source, added);
  context.report.lostCodings(source.codings.length, added.name);
  if (source.codings.length)
    context.report.lost(
      'Omitted a code on a recording, picture or PDF as a whole',
      added.name,
      source.codings.length,
    );
}

/** A transcript or a description of a picture: a text of its own, linked where QualCoder knows a link. */
async function importCompanion(
  context: ImportContext,
  source: RefiMediaSource,
  owner: { id: number; name: string },
  item: RefiText,
): Promise<void> {
  const raw = rawText(context, item, owner.name);
  if (raw === undefined) {
    context.report.lost('Omitted a transcript whose text is not in the file', owner.name);
    context.report.lostCodings(codingsOf(item), owner.name);
    return;
  }
  const isRecording = source.kind === 'audio' || source.kind === 'video';
  const name =
    item.name && item.name !== owner.name
      ? item.name
      : `${owner.name}${isRecording ? '.transcribed' : ' (description)'}`;
  const positions = readText(context, raw, item, name);
  const added =
    context.texts.get(item.plainTextPath ?? '') ??
    addSource(context, { ...item, name }, positions.text.value, undefined, undefined);
  await importSelections(context, added.id, added.name, item, positions);
  if (isRecording) context.project.updateSource(owner.id, { transcriptId: added.id });
}

const codingsOf = ({ selections, codings }: Pick<RefiText, 'selections' | 'codings'>): number =>
  codings.length + selections.reduce((sum, selection) => sum + selection.codings.length, 0);

const allCodings = ({ texts, areas, clips, codings }: RefiMediaSource): number =>
  codings.length +
  [...areas, ...clips].reduce((sum, selection) => sum + selection.codings.length, 0) +
  texts.reduce((sum, text) => sum + codingsOf(text), 0);

function rawText(context: ImportContext, item: RefiText, name: string): string | undefined {
  if (item.content !== undefined && item.plainTextPath)
    context.report.repaired('Read the text from the project file, which gave it twice', name);
  if (item.content !== undefined) return item.content;
  const { texts } = context.contents;
  return texts.get(item.plainTextPath ?? '') ?? texts.get(item.richTextPath ?? '');
}

function readText(context: ImportContext, raw: string, item: RefiText, name: string): ReadPositions {
  const positions = readPositions(raw, item.selections, context.refi.origin);
  for (const remark of positions.remarks) context.report.repaired(remark, name);
  return positions;
}

function addSource(
  context: ImportContext,
  source: RefiSource | RefiText,
  text: string | null,
  file: Uint8Array | undefined,
  path: string | undefined,
): { id: number; name: string } {
  const { project, report } = context;
  const wanted = source.name.replace(/\s+/g, ' ').trim().slice(0, 250) || 'Unnamed source';
  if (wanted !== source.name) report.repaired('Tidied the name of a source', wanted);
  const taken = new Map(project.sources().map((item) => [item.name, item.id]));
  const same = taken.get(wanted);
  if (same !== undefined && text !== null && !isNew(context, same) && project.text(same)?.value === text) {
    report.repaired('Used a source that the project already has, with the same text', wanted);
    context.sources.set(source.guid, same);
    return { id: same, name: wanted };
  }
  const name = freeName(wanted, (other) => taken.has(other));
  if (name !== wanted) report.repaired('Renamed a source, as names must differ', wanted);
  const kind = 'kind' in source ? source.kind : 'text';
  const added = {
    name,
    text,
    memo: joinMemo(source.description, context.notes(source)),
    ...context.stamp(source),
    ...(file ? { file } : {}),
  };
  const hasPlace = file !== undefined || kind !== 'text';
  const id = hasPlace
    ? addSourceWithFile(project, added, FOLDER[kind], fileName(name, kind, path))
    : project.addSource(added);
  context.sources.set(source.guid, id);
  context.added.sources += 1;
  return { id, name };
}

const isNew = (context: ImportContext, id: number): boolean => [...context.sources.values()].includes(id);

function fileName(name: string, kind: keyof typeof FOLDER, path: string | undefined): string {
  const ending = extname(path ?? '').toLowerCase() || ENDING[kind];
  return name.toLowerCase().endsWith(ending) ? name : `${name}${ending}`;
}

/** Joins recordings to their transcripts where our own link says so. */
export function linkTranscripts(context: ImportContext): number {
  let used = 0;
  for (const { name, origin, target } of context.refi.links) {
    const [recording, transcript] = [context.sources.get(origin), context.sources.get(target)];
    if (name !== TRANSCRIPT_LINK || recording === undefined || transcript === undefined) continue;
    context.project.updateSource(recording, { transcriptId: transcript });
    used += 1;
  }
  return used;
}
