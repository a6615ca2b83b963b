import type * as qda from '../../project/types.ts';
import type { ExchangeReport } from '../report.ts';
import { guidMaker, IMPORTANT_NOTE, memoWriter, ORIGIN, TRANSCRIPT_LINK, toRefiDate } from './conventions.ts';
import type {
  RefiCode,
  RefiLink,
  RefiMade,
  RefiNote,
  RefiProject,
  RefiValue,
  RefiVariable,
  RefiVariableType,
} from './model.ts';
import { type Places, sourcesOf } from './sources-of-project.ts';

/** Categories become codes that cannot be applied; codes stand below their category or parent code. */
export function codesOf(
  project: qda.ProjectReader,
  guid: (kind: string, id: number) => string,
  memo: (memo: string, of: string) => string,
): RefiCode[] {
  const codes = project.codes();
  const categories = project.categories();
  const known = new Set(codes.map(({ id }) => id));
  const knownCategories = new Set(categories.map(({ id }) => id));
  const below = (codeId: number): RefiCode[] =>
    codes.filter(({ parentId }) => parentId === codeId).map(toCode);
  const toCode = (code: qda.Code): RefiCode => ({
    guid: guid('code', code.id),
    name: code.name,
    isCodable: true,
    ...(/^#[0-9a-f]{6}$/i.test(code.color) ? { color: code.color } : {}),
    description: memo(code.memo, code.name),
    noteRefs: [],
    children: below(code.id),
  });
  const inCategory = (categoryId: number | null): RefiCode[] => [
    ...categories
      .filter(
        ({ parentId }) =>
          (parentId !== null && knownCategories.has(parentId) ? parentId : null) === categoryId,
      )
      .map((category) => ({
        guid: guid('category', category.id),
        name: category.name,
        isCodable: false,
        description: memo(category.memo, category.name),
        noteRefs: [],
        children: inCategory(category.id),
      })),
    ...codes
      .filter((code) => code.parentId === null || !known.has(code.parentId))
      .filter(
        (code) =>
          (code.categoryId !== null && knownCategories.has(code.categoryId) ? code.categoryId : null) ===
          categoryId,
      )
      .map(toCode),
  ];
  return inCategory(null);
}

const INTEGER = /^[+-]?\d{1,15}$/;
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)$/;

/** Attributes as variables. A numeric attribute with a value that is no number is written as text, as the schema demands numbers. */
function variableTypes(
  project: qda.ProjectReader,
  guid: (kind: string, id: number | string) => string,
): { variables: RefiVariable[]; valuesOf: (scope: qda.AttributeScope, targetId: number) => RefiValue[] } {
  const attributes = project.attributes();
  const types = project.attributeTypes();
  const key = (name: string, scope: string) => guid('variable', `${scope}\n${name}`);
  const typeOf = new Map<string, RefiVariableType>();
  for (const { name, scope, valueType } of types) {
    const values = attributes
      .filter((item) => item.name === name && item.scope === scope)
      .map(({ value }) => value.trim())
      .filter(Boolean);
    typeOf.set(key(name, scope), valueType === 'numeric' ? numberType(values) : 'Text');
  }
  return {
    variables: types.map(({ name, scope, memo }) => ({
      guid: key(name, scope),
      name,
      type: typeOf.get(key(name, scope)) ?? 'Text',
      description: memo,
    })),
    valuesOf: (scope, targetId) =>
      attributes
        .filter(
          (item) =>
            item.scope === scope &&
            item.targetId === targetId &&
            item.value !== '' &&
            typeOf.has(key(item.name, scope)),
        )
        .map(({ name, value }) => {
          const type = typeOf.get(key(name, scope)) ?? 'Text';
          return { variable: key(name, scope), type, value: type === 'Text' ? value : value.trim() };
        }),
  };
}

function numberType(values: readonly string[]): RefiVariableType {
  if (values.every((value) => INTEGER.test(value))) return 'Integer';
  return values.every((value) => DECIMAL.test(value)) ? 'Float' : 'Text';
}

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
