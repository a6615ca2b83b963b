import type { ProjectWriter } from '../../project/types.ts';
import { type ExchangeReport, freeName, type Working } from '../report.ts';
import { importCodes, importVariables } from './import-codes.ts';
import { ImportContext, joinMemo, type RefiContents } from './import-context.ts';
import { importSource, linkTranscripts } from './import-sources.ts';
import type { RefiSource } from './model.ts';

export interface RefiImported {
  readonly codes: number;
  readonly sources: number;
  readonly codings: number;
  readonly annotations: number;
  readonly cases: number;
  readonly journals: number;
}

/** Adds a whole REFI-QDA project inside one transaction. What cannot be kept is counted in the report, never dropped in silence. */
export async function importRefiProject(
  project: ProjectWriter,
  contents: RefiContents,
  report: ExchangeReport,
  working: Working = {},
): Promise<RefiImported> {
  const context = new ImportContext(project, contents, report, working);
  const { refi } = contents;
  const { ids, added } = importCodes(refi.codes, { project, report, notes: context.notes });
  context.codes = ids;
  const cases = importCases(context);
  for (const [done, source] of inOrder(refi.sources).entries()) {
    working.progress?.('Adding to the project', done, refi.sources.length);
    await context.yieldToEventLoop();
    await importSource(context, source);
  }
  const linked = linkTranscripts(context);
  importCaseTexts(context);
  importMemo(context);
  const journals = importJournals(context);
  importVariables(context);
  report.lost('Omitted a link between two items', '', refi.links.length - linked - context.linksUsed);
  for (const { name } of refi.sets) report.lost('Omitted a set of codes, documents or notes', name);
  report.lost('Omitted a drawing', '', refi.graphs);
  return { codes: added, cases, journals, ...context.added };
}

/** A document that is also the transcript of a recording comes before the recording, which is then linked to it. */
function inOrder(sources: readonly RefiSource[]): readonly RefiSource[] {
  const transcripts = new Set(
    sources.flatMap((source) => ('texts' in source ? source.texts.map((text) => text.plainTextPath) : [])),
  );
  const isShared = (source: RefiSource) =>
    source.kind === 'text' && source.plainTextPath !== undefined && transcripts.has(source.plainTextPath);
  return [...sources.filter(isShared), ...sources.filter((source) => !isShared(source))];
}

function importCases(context: ImportContext): number {
  const { project, report } = context;
  const known = new Map(project.cases().map(({ name, id }) => [name, id]));
  const ids = new Map<string, number>();
  let added = 0;
  for (const item of context.refi.cases) {
    const wanted = item.name.trim().slice(0, 255) || 'Unnamed case';
    const existing = known.get(wanted);
    if (existing !== undefined && ![...ids.values()].includes(existing)) {
      report.repaired('Used a case that the project already has', wanted);
      ids.set(item.guid, existing);
      continue;
    }
    const name = freeName(wanted, (other) => known.has(other));
    if (name !== wanted) report.repaired('Renamed a case, as names must differ', wanted);
    const id = project.addCase({ name, memo: item.description });
    known.set(name, id);
    ids.set(item.guid, id);
    added += 1;
  }
  context.cases = ids;
  return added;
}

function importCaseTexts(context: ImportContext): void {
  const { project, report } = context;
  for (const item of context.refi.cases) {
    const caseId = context.cases.get(item.guid);
    if (caseId === undefined) continue;
    for (const ref of item.sourceRefs) {
      const sourceId = context.sources.get(ref);
      if (sourceId === undefined)
        report.lost('Omitted a document of a case that is not in the file', item.name);
      else project.addCaseText({ caseId, sourceId, start: 0, end: project.text(sourceId)?.length ?? 0 });
    }
    for (const ref of item.selectionRefs) {
      const place = context.selections.get(ref);
      if (!place) {
        report.lost('Omitted a part of a case that is not in the file', item.name);
        continue;
      }
      const { sourceId, start, end, memo, stamp } = place;
      project.addCaseText({ caseId, sourceId, start, end, memo, ...stamp });
    }
  }
}

function importMemo(context: ImportContext): void {
  const { project, refi } = context;
  const memo = joinMemo(refi.description, context.notes({ guid: '', noteRefs: refi.noteRefs }));
  const old = project.info().memo;
  if (!memo || old.includes(memo)) return;
  project.setProjectMemo(joinMemo(old, memo));
}

function importJournals(context: ImportContext): number {
  const { project, report } = context;
  const taken = new Set(project.journals().map(({ name }) => name));
  let added = 0;
  for (const note of context.freeNotes()) {
    const wanted = note.name.replace(/\s+/g, ' ').trim().slice(0, 250) || 'Note';
    const name = freeName(wanted, (other) => taken.has(other));
    if (name !== note.name) report.repaired('Renamed a note, as names must differ', wanted);
    const id = project.addJournal({ name, entry: context.noteText(note), ...context.stamp(note) });
    context.journals.set(note.guid, id);
    taken.add(name);
    added += 1;
  }
  return added;
}
