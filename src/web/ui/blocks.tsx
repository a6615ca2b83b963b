import { lazy, Suspense } from 'react';
import type { FieldRow, PresentationBlock, QuotedText, Source } from '../../contract/presentation.ts';
import { Skeleton } from './badge.tsx';
import { BlockCard } from './block-card.tsx';
import { FieldTree } from './field-tree.tsx';
import { Unshown } from './folds.tsx';
import { Notice } from './notice.tsx';
import { Passage } from './passage.tsx';
import { MessageBlock, PostBlock, QuoteBox, ThreadBlock } from './post-blocks.tsx';
import { UntrustedText } from './untrusted-text.tsx';

const PatchFiles = lazy(async () => ({ default: (await import('./patch.tsx')).PatchFiles }));

const SOURCES: Readonly<Record<Source, string | undefined>> = {
  countersign: undefined,
  agent: undefined,
  person: 'written by a person',
  server: 'server claims',
  remote: 'from the remote service',
};

/** The body of a presentation, each part in the form a person reads best. */
export const Blocks = ({ blocks }: { readonly blocks: readonly PresentationBlock[] }) =>
  blocks.map((block, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one presentation are their places
    <Block key={index} block={block} />
  ));

function Block({ block }: { readonly block: PresentationBlock }) {
  switch (block.type) {
    case 'post':
      return <PostBlock block={block} />;
    case 'thread':
      return <ThreadBlock block={block} />;
    case 'message':
      return <MessageBlock block={block} />;
    case 'quote':
      return <Quote title={block.title} quoted={block.quoted} />;
    case 'document':
      return (
        <BlockCard icon="file" title={block.title ?? 'Text'} aside={SOURCES[block.source]}>
          <div className="block-body stack">
            {block.heading ? (
              <p className="document-heading">
                <UntrustedText text={block.heading} />
              </p>
            ) : null}
            {block.text.trim() === '' ? (
              <p className="muted">No text</p>
            ) : (
              <div className={block.source === 'agent' ? 'document-text' : 'document-text said'}>
                <UntrustedText block text={block.text} />
              </div>
            )}
            {block.labels && block.labels.length > 0 ? (
              <div className="row">
                {block.labels.map((label) => (
                  <span key={label} className="badge">
                    <UntrustedText text={label} />
                  </span>
                ))}
              </div>
            ) : null}
          </div>
        </BlockCard>
      );
    case 'diff':
      return (
        <section className="stack" aria-label={block.title ?? 'Changed files'}>
          <Suspense fallback={<Loading />}>
            <PatchFiles files={block.files} base={block.base_commit} />
          </Suspense>
        </section>
      );
    case 'passage':
      return <Passage block={block} />;
    case 'table':
      return <Rows block={block} />;
    case 'fields':
      return (
        <BlockCard
          icon="braces"
          title={`${block.title ?? 'Arguments'}, ${countTop(block.rows)}`}
          aside={SOURCES[block.source]}
        >
          <FieldTree rows={block.rows} />
        </BlockCard>
      );
    case 'checks':
      return (
        <BlockCard icon="checked" title={block.title ?? 'Checked before you were asked'}>
          <dl className="fact-strip checks">
            {block.rows.map((row) => (
              <div key={row.label}>
                <dt>
                  <UntrustedText text={row.label} />
                </dt>
                <dd className={TONES[row.state]} title={row.result}>
                  <UntrustedText text={row.result} />
                </dd>
                {row.detail ? (
                  <dd title={row.detail}>
                    <UntrustedText text={row.detail} />
                  </dd>
                ) : null}
              </div>
            ))}
          </dl>
        </BlockCard>
      );
    case 'notice':
      return (
        <Notice tone={block.level === 'danger' ? 'bad' : 'warn'}>
          {block.title ? (
            <strong>
              <UntrustedText text={block.title} />.{' '}
            </strong>
          ) : null}
          <UntrustedText text={block.text} />
        </Notice>
      );
    default:
      return block satisfies never;
  }
}

const Loading = () => (
  <>
    <Skeleton />
    <Unshown />
  </>
);

const TONES = { passed: 'tone-good', failed: 'tone-bad', warning: 'tone-warn', unknown: undefined } as const;

const countTop = (rows: readonly FieldRow[]): string => {
  const top = rows.filter(({ depth }) => depth === 0).length;
  return top === 1 ? '1 value' : `${top} values`;
};

const Quote = ({ title, quoted }: { readonly title: string | undefined; readonly quoted: QuotedText }) => (
  <BlockCard icon="quote" title={title ?? 'What it acts on'} aside={SOURCES.remote}>
    <div className="block-body">
      <QuoteBox quoted={quoted} />
    </div>
  </BlockCard>
);

function Rows({ block }: { readonly block: Extract<PresentationBlock, { type: 'table' }> }) {
  const title = block.title ?? 'Rows';
  return (
    <BlockCard icon="database" title={title} aside={SOURCES[block.source]}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className="block-scroll" tabIndex={0} aria-label={`Rows of ${title}`}>
        <table className="table">
          <thead>
            <tr>
              {block.columns.map((column) => (
                <th key={column} scope="col">
                  <UntrustedText text={column} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {block.rows.map((cells, row) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of a preview are their places
              <tr key={row}>
                {cells.map((cell, column) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: cells are their places
                  <td key={column}>
                    <UntrustedText text={cell} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {block.more ? <p className="block-foot">{block.more.toLocaleString('en')} more</p> : null}
    </BlockCard>
  );
}
