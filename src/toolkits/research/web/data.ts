import type { ViewData } from '../../../contract/view.ts';
import { viewsOf } from '../../../web/ui/page-data.ts';
import type { views } from '../views.ts';

export const { useView, readView } = viewsOf<typeof views>('research');

export type Project = ViewData<typeof views.project>;
export type Source = ViewData<typeof views.sources>[number];
export type Marks = Omit<ViewData<typeof views.marks>, 'source_id'>;
export type Coding = Marks['segments'][number];
export type CodingSuggestion = Marks['suggestions'][number];
export type Annotation = Marks['annotations'][number];
export type CodeTree = ViewData<typeof views.codes>;
export type Category = CodeTree['categories'][number];
export type Code = CodeTree['codes'][number];
export type Suggestion = ViewData<typeof views.suggestions>[number];

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Every code of the tree, categories before what stands at the top. */
export function flatCodes({ categories, codes }: CodeTree): Code[] {
  const under = (code: Code): Code[] => [code, ...code.children.flatMap(under)];
  return [
    ...categories.flatMap((each): Code[] => flatCodes({ categories: each.categories, codes: each.codes })),
    ...codes.flatMap(under),
  ];
}
