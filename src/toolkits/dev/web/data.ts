import type { ViewData } from '../../../contract/view.ts';
import { viewsOf } from '../../../web/ui/page-data.ts';
import type { views } from '../views.ts';

export const { useView } = viewsOf<typeof views>('dev');

export type Run = ViewData<typeof views.run>;
export type Issue = ViewData<typeof views.issue>['issue'];
export type Pull = ViewData<typeof views.pr>['pr'];
export type Author = Issue['author'];

/** Enough of an id to tell runs apart. */
export const shortRun = (id: string): string => id.slice(0, 8);

/** GitHub sends us no events; what is stored there is looked at again so often. */
export const GITHUB_MS = 60_000;

/** What lives in our own store can be merged and closed here; the rest is decided on GitHub. */
export const isLocal = ({ html_url }: { readonly html_url: string }): boolean =>
  html_url.startsWith('countersign:');
