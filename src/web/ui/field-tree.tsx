import type { FieldRow } from '../../contract/presentation.ts';
import { UntrustedText } from './untrusted-text.tsx';

/** Arguments by name: parts of a value are indented, exact values are in tooltips. */
export const FieldTree = ({ rows }: { readonly rows: readonly FieldRow[] }) => (
  <dl className="fields">
    {rows.map((row, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: names repeat in lists; a row is its place
      <div key={index} className={`field-row field-depth-${Math.min(row.depth, 6)}`}>
        <dt title={row.name}>
          <UntrustedText text={row.label} />
        </dt>
        <dd className={row.type === 'code' ? 'field-code' : undefined}>
          <span className={row.warn ? 'tone-bad' : undefined} title={row.exact}>
            <UntrustedText block={row.type === 'text' || row.type === 'code'} text={row.text} />
          </span>
          {row.note ? <span className="muted"> {row.note}</span> : null}
        </dd>
        <dd className="field-type">{row.type === 'none' ? '' : row.type}</dd>
      </div>
    ))}
  </dl>
);
