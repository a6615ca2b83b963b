import { z } from 'zod';
import type { JsonObject } from '../../../contract/json.ts';
import type { View } from '../../../contract/toolkit.ts';
import { showCodes, showSegment } from '../lib/shapes.ts';
import { personLens } from '../privacy/lens.ts';
import { noCode } from '../project/checks.ts';
import type { Category } from '../project/types.ts';
import type { ResearchServices } from '../services.ts';
import { readParams, wholeNumber } from './params.ts';

/** The code tree: categories hold categories and codes, codes hold sub-codes. */
export const codes: View<ResearchServices> = async (_, { services }) => {
  const { store } = await services.projects.current();
  const shown = showCodes(personLens(store), store.codes());
  const categories = store.categories();
  const known = new Set(categories.map(({ id }) => id));
  const place = (parent: number | null) => (parent !== null && known.has(parent) ? parent : null);
  const codeIds = new Set(shown.map(({ id }) => id));
  const under = (code: (typeof shown)[number]): JsonObject => ({
    ...code,
    children: shown.filter(({ parent_code_id }) => parent_code_id === code.id).map(under),
  });
  const roots = shown.filter(({ parent_code_id }) => parent_code_id === null || !codeIds.has(parent_code_id));
  // Two categories inside each other would never end; QualCoder breaks such cycles when it opens the project.
  const branch = (category: Category, above: ReadonlySet<number>): JsonObject => {
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
export const code: View<ResearchServices> = async (params, { services }) => {
  const { code_id, offset, limit } = readParams(
    z.object({
      code_id: wholeNumber,
      offset: wholeNumber.min(0).default(0),
      limit: wholeNumber.min(1).max(1000).default(100),
    }),
    params,
  );
  const { store } = await services.projects.current();
  const lens = personLens(store);
  const found = store.code(code_id);
  if (!found) throw noCode(code_id);
  const all = store.codings({ codeId: code_id });
  const page = all.slice(offset, offset + limit);
  const makers = await store.journal.makers('code_text', page);
  const names = new Map(store.sources().map((item) => [item.id, item.name]));
  return {
    ...(showCodes(lens, [found])[0] ?? {}),
    total: all.length,
    segments: page.map((coding) => ({
      ...showSegment(lens, coding, found.name, makers.get(coding.id)),
      source_name: names.get(coding.sourceId) ?? '',
    })),
  };
};
