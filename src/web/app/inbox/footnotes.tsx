import { useState } from 'react';
import { Link } from 'wouter';
import type { Item } from '../../../kernel/views/shapes.ts';
import { shortName } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icon.tsx';
import { TimeAgo } from '../../ui/page-head.tsx';
import { JsonView } from '../../ui/untrusted-text.tsx';
import { describeUse } from './facts.tsx';

/** What helps to decide but is not needed every time; the exact arguments are one press away. */
export function Footnotes({ item }: { readonly item: Item }) {
  const [exact, setExact] = useState(false);
  const { usual, limits, effect } = item.presentation;
  const { confidence, method } = item.context;
  return (
    <>
      <ul className="footnotes" aria-label="Notes">
        {usual ? (
          <li>
            <Icon name="history" small />
            <Link href={`/?shelf=decided&agent=${encodeURIComponent(item.requester)}&tool=${item.tool}`}>
              {usual.approved} of {usual.of} such calls of {shortName(item.requester)} approved
            </Link>
          </li>
        ) : (
          <li>
            <Icon name="history" small />
            First call of this kind by {shortName(item.requester)}
          </li>
        )}
        {effect.detail
          ? limits.map((limit) => (
              <li key={limit.key} title={limit.key}>
                <Icon name="insights" small />
                {describeUse(limit)}
              </li>
            ))
          : null}
        {typeof confidence === 'number' ? (
          <li>
            <Icon name="info" small />
            Confidence {Math.round(confidence)} %{typeof method === 'string' ? ` (${method})` : ''}
          </li>
        ) : null}
        {item.run_id ? (
          <li>
            <Icon name="activity" small />
            <Link href={`/activity?run=${encodeURIComponent(item.run_id)}`}>Calls of the same run</Link>
          </li>
        ) : null}
        {item.edits.map(({ at, editor }) => (
          <li key={at}>
            <Icon name="edit" small />
            Edited by {shortName(editor)}, <TimeAgo at={at} />
          </li>
        ))}
        <li>
          <button
            type="button"
            className="link-button"
            aria-expanded={exact}
            onClick={() => setExact(!exact)}
          >
            {exact ? 'Hide the exact arguments' : 'Show the exact arguments'}
          </button>
        </li>
      </ul>
      {exact ? (
        <>
          <p className="meta">
            Tool <code>{item.tool}</code>
          </p>
          <JsonView value={item.args} label="Exact arguments" />
        </>
      ) : null}
    </>
  );
}
