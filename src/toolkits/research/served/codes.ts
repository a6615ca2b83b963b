import type { ViewAnswer, ViewData } from '../../../contract/view.ts';
import { sentenceSegments } from '../analysis/segments.ts';
import { personPrivacyView } from '../privacy/privacy-view.ts';
import { noCode } from '../project/checks.ts';
import { isAgentOwner } from '../project/memo.ts';
import type { Category, ProjectReader } from '../project/types.ts';
import type { ResearchServices } from '../services.ts';
import { caseMatrix, codeFrequencies, coOccurrences } from '../statistics/frequencies.ts';
import { type CodedProject, reliability } from '../statistics/reliability.ts';
import { showCodes, showSegment } from '../tools/shapes.ts';
import type { views } from '../views.ts';

export type Answer<K extends keyof typeof views> = ViewAnswer<ResearchServices, (typeof views)[K]>;

type Tree = ViewData<typeof views.codes>;

/** The code tree: categories hold categories and codes, codes hold sub-codes. */
export const codes: Answer<'codes'> = async (_, { services }) => {
  const { store } = await services.projects.current();
  const shown = showCodes(personPrivacyView(store), store.codes());
  const categories = store.categories();
  const known = new Set(categories.map(({ id }) => id));
  const place = (parent: number | null) => (parent !== null && known.has(parent) ? parent : null);
  const codeIds = new Set(shown.map(({ id }) => id));
  const under = (code: (typeof shown)[number]): Tree['codes'][number] => ({
    ...code,
    children: shown.filter(({ parent_code_id }) => parent_code_id === code.id).map(under),
  });
  const roots = shown.filter(({ parent_code_id }) => parent_code_id === null || !codeIds.has(parent_code_id));
  // Two categories inside each other would never end; QualCoder breaks such cycles when it opens the project.
  const branch = (category: Category, above: ReadonlySet<number>): Tree['categories'][number] => {
    const path = new Set([...above, category.id]);
    return {
      id: category.id,
      name: category.name,
      memo: category.memo,
      categories: categories
        .filter(({ id, parentId }) => place(parentId) === category.id && !path.has(id))
        .map((child) => branch(child, path)),
      codes: roots.filter(({ category_id }) => category_id === category.id).map(under),
    };
  };
  return {
    categories: categories
      .filter(({ parentId }) => place(parentId) === null)
      .map((item) => branch(item, new Set())),
    codes: roots.filter(({ category_id }) => place(category_id) === null).map(under),
  };
};

/** One code with everything coded with it. */
export const code: Answer<'code'> = async ({ code_id, offset, limit }, { services }) => {
  const { store } = await services.projects.current();
  const lens = personPrivacyView(store);
  const found = store.code(code_id);
  if (!found) throw noCode(code_id);
  const all = store.codings({ codeId: code_id });
  const page = all.slice(offset, offset + limit);
  const makers = await store.journal.makers('code_text', page);
  const names = new Map(store.sources().map((item) => [item.id, item.name]));
  const [shown] = showCodes(lens, [found]);
  if (!shown) throw noCode(code_id);
  return {
    ...shown,
    total: all.length,
    segments: page.map((coding) => ({
      ...showSegment(lens, coding, found.name, makers.get(coding.id)),
      source_name: names.get(coding.sourceId) ?? '',
    })),
  };
};

/** A project as the statistics take it; also what `countersign research agreement` computes from. */
function codedProject(reader: ProjectReader): CodedProject {
  return {
    codes: reader.codes(),
    sources: reader.sources().flatMap(({ id, name, hasText }) => {
      const text = hasText ? reader.text(id) : undefined;
      return text ? [{ id, name, length: text.length, units: sentenceSegments(text) }] : [];
    }),
    coders: reader
      .coders()
      .map(({ name }) => ({ name, kind: isAgentOwner(name) ? ('agent' as const) : ('person' as const) })),
    codings: reader.codings(),
  };
}

export const agreement: Answer<'agreement'> = async ({ unit, per_source }, { services }) => {
  const { store } = await services.projects.current();
  return reliability(codedProject(store), { unit, perSource: per_source });
};

export const statistics: Answer<'statistics'> = async (_, { services }) => {
  const { store } = await services.projects.current();
  const codings = store.codings();
  const codes = store.codes();
  return {
    frequencies: codeFrequencies(codes, codings),
    co_occurrence: coOccurrences(codes, codings),
    case_matrix: caseMatrix(named(codes), named(store.cases()), codings, store.caseTexts()),
  };
};

/** Names and ids alone: memos have no place in a table. */
const named = (items: readonly { readonly id: number; readonly name: string }[]) =>
  items.map(({ id, name }) => ({ id, name }));
