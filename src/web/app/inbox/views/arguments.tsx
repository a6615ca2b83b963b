import { lazy, Suspense, useState } from 'react';
import { JsonView } from '../../components/json-view.tsx';
import type { Item } from '../types.ts';
import { CodingView } from './coding.tsx';
import { FieldsView } from './fields.tsx';
import { shownAs } from './kinds.ts';
import { PostView, ThreadView } from './post.tsx';

const DiffView = lazy(() => import('./diff.tsx'));

/** The arguments in the form a person reads best, and always also exactly as they will be used. */
export function Arguments({ item }: { readonly item: Item }) {
  const [exact, setExact] = useState(false);
  return (
    <div className="stack">
      <Readable item={item} />
      <div>
        <button type="button" className="link-button" aria-expanded={exact} onClick={() => setExact(!exact)}>
          {exact ? 'Hide the exact arguments' : 'Show the exact arguments'}
        </button>
      </div>
      {exact ? <JsonView value={item.args} label="Exact arguments" /> : null}
    </div>
  );
}

function Readable({ item }: { readonly item: Item }) {
  const shown = shownAs(item.tool, item.args);
  switch (shown.as) {
    case 'post':
      return <PostView {...shown} />;
    case 'thread':
      return <ThreadView {...shown} />;
    case 'diff': {
      const { files: _files, ...rest } = shown.args;
      return (
        <>
          <FieldsView args={rest} />
          <Suspense fallback={<p className="muted">Loading…</p>}>
            <DiffView files={shown.files} />
          </Suspense>
        </>
      );
    }
    case 'coding':
      return <CodingView item={item} />;
    case 'fields':
      return <FieldsView args={item.args} />;
    default:
      return shown satisfies never;
  }
}
