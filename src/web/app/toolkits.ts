import { type ComponentType, lazy, useEffect, useState } from 'react';
import type { ApprovalView } from '../ui/approval-view.ts';
import type { IconName } from '../ui/icon.tsx';
import type { StartSteps } from '../ui/start-steps.ts';

type Loader<M> = () => Promise<M>;

/** `toolkits/<id>/web/<file>`. */
function idOf(path: string): string {
  return path.split('/').at(-3) ?? '';
}

/** What each toolkit brings under one file name, by the toolkit's id. */
const byToolkit = <M>(files: Readonly<Record<string, Loader<M>>>): ReadonlyMap<string, Loader<M>> =>
  new Map(Object.entries(files).map(([path, load]) => [idOf(path), load]));

interface Shows<P> {
  readonly default: ComponentType<P>;
}

const lazily = <P extends object>(
  files: Readonly<Record<string, Loader<Shows<P>>>>,
): ReadonlyMap<string, ComponentType<P>> =>
  new Map([...byToolkit(files)].map(([id, load]) => [id, lazy<ComponentType<P>>(load)]));

/** Pages, reached at `/<id>`. */
export const pages = lazily(import.meta.glob<Shows<object>>('../../toolkits/*/web/page.tsx'));
/** Charts on the page Insights. */
export const insights = lazily(
  import.meta.glob<Shows<{ readonly days: number }>>('../../toolkits/*/web/insights.tsx'),
);
/** Notices above every page. */
export const notices = lazily(import.meta.glob<Shows<object>>('../../toolkits/*/web/notice.tsx'));

const icons = new Map(
  Object.entries(
    import.meta.glob<IconName>('../../toolkits/*/web/icon.ts', { eager: true, import: 'default' }),
  ).map(([path, icon]) => [idOf(path), icon]),
);

/** The icon that a toolkit brings; undefined for one without, such as a third-party server. */
export const iconOf = (toolkit: string): IconName | undefined => icons.get(toolkit);

const approvalViews = byToolkit(
  import.meta.glob<{ readonly default: ApprovalView }>('../../toolkits/*/web/approval.tsx'),
);
const startSteps = byToolkit(
  import.meta.glob<{ readonly default: StartSteps }>('../../toolkits/*/web/start.tsx'),
);

const PLAIN: ApprovalView = {};

/** How that toolkit shows its approvals; undefined until it is known. */
export function useApprovalView(toolkit: string | undefined): ApprovalView | undefined {
  const [known, setKnown] = useState<{ readonly of: string; readonly view: ApprovalView }>();
  useEffect(() => {
    if (toolkit === undefined) return;
    let current = true;
    const show = (view: ApprovalView): void => {
      if (current) setKnown({ of: toolkit, view });
    };
    const load = approvalViews.get(toolkit);
    // A person must be able to decide even where the toolkit's own view cannot be loaded.
    if (load)
      load().then(
        ({ default: view }) => show(view),
        () => show(PLAIN),
      );
    else show(PLAIN);
    return () => {
      current = false;
    };
  }, [toolkit]);
  return known && known.of === toolkit ? known.view : undefined;
}

/** The first steps of the first of these toolkits that has any: null where none has, undefined until it is known. */
export function useStartSteps(toolkits: readonly { readonly id: string }[]): StartSteps | null | undefined {
  const load = toolkits.map(({ id }) => startSteps.get(id)).find((found) => found !== undefined);
  const [steps, setSteps] = useState<StartSteps | null>();
  useEffect(() => {
    let current = true;
    const show = (found: StartSteps | null): void => {
      if (current) setSteps(found);
    };
    if (load)
      load().then(
        ({ default: found }) => show(found),
        () => show(null),
      );
    else show(null);
    return () => {
      current = false;
    };
  }, [load]);
  return steps;
}
