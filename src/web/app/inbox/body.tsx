import { lazy, Suspense, useMemo } from 'react';
import type { FieldRow, PresentationBlock } from '../../../contract/presentation.ts';
import type { Item } from '../../../kernel/views/shapes.ts';
import { Skeleton } from '../../ui/badge.tsx';
import { Blocks } from '../../ui/blocks.tsx';
import { Unshown } from '../../ui/folds.tsx';
import { findEdits } from './find-edits.ts';

const FileEdits = lazy(() => import('./file-edits.tsx'));

/** What the call would do, in the form a person reads best; never as JSON. */
export function ItemBody({ item }: { readonly item: Item }) {
  const { presentation, args } = item;
  const found = useMemo(() => {
    const isShown = presentation.body.some(({ type }) => type === 'diff');
    return presentation.generic && !isShown ? findEdits(args) : undefined;
  }, [presentation, args]);
  const blocks = found
    ? presentation.body.flatMap((block) => without(block, found.covers))
    : presentation.body;
  return (
    <>
      {found ? (
        <Suspense
          fallback={
            <>
              <Skeleton />
              <Unshown />
            </>
          }
        >
          <FileEdits edits={found.edits} />
        </Suspense>
      ) : null}
      {blocks.length > 0 || found ? <Blocks blocks={blocks} /> : <p className="muted">No arguments.</p>}
    </>
  );
}

/** A block of fields without what the diff already shows; nothing where nothing is left. */
function without(block: PresentationBlock, covers: readonly string[]): PresentationBlock[] {
  if (block.type !== 'fields') return [block];
  const rows: FieldRow[] = [];
  let covered = false;
  for (const row of block.rows) {
    if (row.depth === 0) covered = covers.includes(row.name);
    if (!covered) rows.push(row);
  }
  return rows.length > 0 ? [{ ...block, title: 'Other arguments', rows }] : [];
}
