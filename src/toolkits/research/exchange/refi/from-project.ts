import type * as qda from '../../project/types.ts';
import type { ExchangeReport } from '../report.ts';
import { codesOf } from './codes-of-project.ts';
import { IMPORTANT_NOTE, ORIGIN, TRANSCRIPT_LINK } from './conventions.ts';
import { toRefiDate } from './dates.ts';
import { guidMaker } from './guid.ts';
import { memoWriter } from './memo-writer.ts';
import type { RefiLink, RefiMade, RefiNote, RefiProject, RefiValue, RefiVariable } from './model.ts';
import { type Places, sourcesOf } from './sources-of-project.ts';
import { variableTypes } from './variables-of-project.ts';

export interface ToRefiOptions {
  /** Also what stands behind ##### in memos. */
  readonly privateMemos?: boolean;
  readonly report: ExchangeReport;
  /** Heights of the pages of a PDF source in points; undefined where they cannot be had. */
  readonly pageHeights?: ReadonlyMap<number, readonly number[]>;
  /** Whether the project's folder holds the file; a name without a file makes other programs fail. */
  readonly hasFile: (mediaPath: string) => boolean;
}

/** Shared by the parts that turn a project into REFI-QDA. */
export interface Conversion {
  readonly project: qda.ProjectReader;
  readonly report: ExchangeReport;
  readonly guid: (kind: string, id: number | string) => string;
  readonly memo: (memo: string, of: string) => string;
  readonly made: (item: { readonly owner: string; readonly date: string }) => RefiMade;
  readonly valuesOf: (scope: qda.AttributeScope, targetId: number) => RefiValue[];
  readonly pageHeights: ReadonlyMap<number, readonly number[]>;
  readonly hasFile: (mediaPath: string) => boolean;
}

/** Everything of a project that REFI-QDA can say, and where the files of its sources go. */
export function toRefi(
  project: qda.ProjectReader,
  options: ToRefiOptions,
): { readonly refi: RefiProject; readonly places: Places } {
  const { report } = options;
  const info = project.info();
  const guid = guidMaker(`${info.name}\n${info.date}`);
  const users = new Map<string, string>();
  const made = ({ owner, date }: { owner: string; date: string }): RefiMade => {
    if (owner && !users.has(owner)) users.set(owner, guid('user', owner));
    const user = users.get(owner);
    const at = toRefiDate(date);
    return { ...(user ? { user } : {}), ...(at ? { date: at } : {}) };
  };
  const memo = memoWriter(report, options.privateMemos ?? false);
  const { variables, valuesOf } = variableTypes(project, guid);
  const conversion: Conversion = {
    project,
    report,
    guid,
    memo,
    made,
    valuesOf,
    pageHeights: options.pageHeights ?? new Map(),
    hasFile: options.hasFile,
  };
  const { sources, places, caseSelections, important } = sourcesOf(conversion);
  const refi: RefiProject = {
    name: info.name,
    origin: ORIGIN,
    description: memo(info.memo, 'the project'),
    noteRefs: [],
    codes: codesOf(project, guid, memo),
    variables: variables.map(
      (variable): RefiVariable => ({ ...variable, description: memo(variable.description, variable.name) }),
    ),
    cases: project.cases().map((item) => ({
      guid: guid('case', item.id),
      name: item.name,
      description: memo(item.memo, item.name),
      values: valuesOf('case', item.id),
      ...caseSelections(item.id),
    })),
    sources,
    notes: [...notesOf(conversion), ...(important ? [importantNote(guid)] : [])],
    links: transcriptLinks(conversion),
    sets: [],
    graphs: 0,
    users: [...users].map(([name, id]) => ({ guid: id, name })),
  };
  if (project.codes().length + project.cases().length > 0)
    report.lost('REFI-QDA has no place for the owner and date of codes, categories, cases and attributes');
  return { refi, places };
}

const notesOf = ({ project, guid, memo, made, valuesOf }: Conversion): RefiNote[] =>
  project.journals().map((journal) => ({
    guid: guid('journal', journal.id),
    name: journal.name,
    description: '',
    content: memo(journal.entry, journal.name) || ' ',
    ...made(journal),
    selections: [],
    codings: [],
    noteRefs: [],
    values: valuesOf('journal', journal.id),
  }));

const importantNote = (guid: Conversion['guid']): RefiNote => ({
  guid: guid('note', IMPORTANT_NOTE),
  name: IMPORTANT_NOTE,
  description: '',
  content: 'Codings that refer to this note are marked as important.',
  selections: [],
  codings: [],
  noteRefs: [],
  values: [],
});

const transcriptLinks = ({ project, guid }: Conversion): RefiLink[] =>
  project.sources().flatMap((source) =>
    source.transcriptId === null || !project.source(source.transcriptId)
      ? []
      : [
          {
            guid: guid('transcript', source.id),
            name: TRANSCRIPT_LINK,
            origin: guid('source', source.id),
            target: guid('source', source.transcriptId),
          },
        ],
  );
