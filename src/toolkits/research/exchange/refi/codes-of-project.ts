import type * as qda from '../../project/types.ts';
import type { RefiCode } from './model.ts';

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
