import type { CSSProperties } from 'react';
import type { PresentationBlock } from '../../contract/presentation.ts';
import { BlockCard } from './block-card.tsx';
import { UntrustedText } from './untrusted-text.tsx';

const colourOf = (color: string | null): CSSProperties | undefined =>
  color ? ({ '--code': color } as CSSProperties) : undefined;

/** A passage marked in the text around it, with the codes that it has or would get in the margin. */
export function Passage({ block }: { readonly block: Extract<PresentationBlock, { type: 'passage' }> }) {
  const { source_name, before, text, after, line, code, codings = [] } = block;
  return (
    <BlockCard
      icon="passage"
      title={block.title ?? source_name}
      aside={line === undefined ? undefined : `line ${line.toLocaleString('en')}`}
    >
      <figure className="passage">
        <figcaption className="sr-only">
          <UntrustedText text={source_name} />
        </figcaption>
        <blockquote>
          <UntrustedText text={before} />
          <mark>
            <UntrustedText text={text} />
          </mark>
          <UntrustedText text={after} />
        </blockquote>
        <ul className="margin" aria-label="Codes">
          {code ? (
            <li className="code-chip" style={colourOf(code.color)}>
              <UntrustedText text={code.name} />
              <span className="meta">suggested</span>
            </li>
          ) : null}
          {codings.map(({ name, color, by }) => (
            <li key={`${name} ${by ?? ''}`} className="code-chip" style={colourOf(color)}>
              <UntrustedText text={name} />
              {by ? (
                <span className="meta">
                  <UntrustedText text={by} />
                </span>
              ) : null}
            </li>
          ))}
        </ul>
      </figure>
    </BlockCard>
  );
}
