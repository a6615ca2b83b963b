import { useState } from 'react';
import { lookup } from '../../lib/lookup.ts';
import { Icon } from './icon.tsx';
import { TimeAgo } from './page-head.tsx';
import { isRecord, type JsonRecord } from './session.ts';
import { type Column, Table } from './table.tsx';
import { JsonView, UntrustedText } from './untrusted-text.tsx';
import './result-view.css';

/** Wider than this, rows are cards: a table that scrolls sideways is not read. */
const MOST_COLUMNS = 6;
const MOST_DEPTH = 4;
const ROWS_SHOWN = 25;
const LONG = 80;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;
const IS_ID = /(^|_)(id|ids|uuid|sha|hash|digest|commit|key)$/i;
/** What says most about a row comes first. */
const FIRST = ['id', 'number', 'name', 'title', 'text', 'status', 'state'];

/** What a call took or gave: named values, tables and cards; the JSON itself on demand. */
export function ResultView({
  value,
  label = 'Result',
}: {
  readonly value: unknown;
  readonly label?: string;
}) {
  const [exact, setExact] = useState(false);
  return (
    <section className="block result" aria-label={label}>
      <header className="block-head">
        <Icon name="braces" small />
        <h3>{label}</h3>
        <div className="segments result-choice">
          {[false, true].map((one) => (
            <button
              key={String(one)}
              type="button"
              className="segment"
              aria-pressed={exact === one}
              onClick={() => setExact(one)}
            >
              {one ? 'JSON' : 'Readable'}
            </button>
          ))}
        </div>
      </header>
      <div className="block-body">
        {exact ? <JsonView value={value} label={`${label} as JSON`} /> : <Value value={value} />}
      </div>
    </section>
  );
}

/** Anything a tool returned, readable. All text in it is a stranger's. */
function Value({ value, name = '', depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  if (value === null || value === undefined || value === '') return <span className="muted">none</span>;
  if (typeof value === 'boolean') return <span>{value ? 'yes' : 'no'}</span>;
  if (typeof value === 'number')
    return <span className="tabular">{IS_ID.test(name) ? String(value) : value.toLocaleString('en')}</span>;
  if (typeof value === 'string') return <Text text={value} name={name} />;
  if (isMasked(value)) return <Masked />;
  if (depth >= MOST_DEPTH) return <JsonView value={value} label={nameOf(name)} />;
  if (Array.isArray(value)) return <List items={value} name={name} depth={depth} />;
  if (isRecord(value)) return <Fields record={value} depth={depth} />;
  return <UntrustedText text={String(value)} />;
}

function Text({ text, name }: { readonly text: string; readonly name: string }) {
  if (MOMENT.test(text) && !Number.isNaN(Date.parse(text))) return <TimeAgo at={text} />;
  if (IS_ID.test(name))
    return (
      <code className="result-id">
        <UntrustedText text={text} />
      </code>
    );
  return text.length > LONG || text.includes('\n') ? (
    <UntrustedText block text={text} />
  ) : (
    <UntrustedText text={text} />
  );
}

function Fields({ record, depth }: { readonly record: JsonRecord; readonly depth: number }) {
  const entries = Object.entries(record);
  if (entries.length === 0) return <span className="muted">none</span>;
  return (
    <dl className={depth === 0 ? 'facts result-facts' : 'result-nested'}>
      {entries.map(([name, value]) => (
        <div key={name} className={isWide(value) ? 'fact fact-wide' : 'fact'}>
          <dt>
            <UntrustedText text={nameOf(name)} />
          </dt>
          <dd>
            <Value value={value} name={name} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function List({ items, name, depth }: { items: readonly unknown[]; name: string; depth: number }) {
  const [all, setAll] = useState(false);
  if (items.length === 0) return <span className="muted">none</span>;
  const shown = all ? items : items.slice(0, ROWS_SHOWN);
  const rows = shown.filter(isRecord);
  const columns = rows.length === shown.length ? columnsOf(rows) : undefined;
  return (
    <div className="stack">
      {columns ? (
        <Table
          label={nameOf(name) || 'Rows'}
          columns={columns}
          rows={rows.map((row, at) => ({ ...row, [PLACE]: at }))}
          rowKey={(row) => String(row[PLACE])}
        />
      ) : (
        <ul className={rows.length === shown.length ? 'plain-list result-cards' : 'plain-list result-list'}>
          {shown.map((item, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a result are their places
            <li key={at} className={isRecord(item) ? 'result-card' : undefined}>
              <Value value={item} name={name} depth={depth + 1} />
            </li>
          ))}
        </ul>
      )}
      {items.length > shown.length ? (
        <button type="button" className="link-button" onClick={() => setAll(true)}>
          Show all {items.length.toLocaleString('en')}
        </button>
      ) : null}
    </div>
  );
}

/** No tool's field has this name, which only keeps rows apart. */
const PLACE = '\u0000place';

/** Columns for rows of plain values; undefined where a row has more than a line says. */
export function columnsOf(rows: readonly JsonRecord[]): readonly Column<JsonRecord>[] | undefined {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const isPlain = rows.every((row) =>
    Object.values(row).every((value) => typeof value !== 'object' || value === null || isMasked(value)),
  );
  if (rows.length < 2 || names.length === 0 || names.length > MOST_COLUMNS || !isPlain) return undefined;
  const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return names
    .toSorted((a, b) => rank(a) - rank(b))
    .map((name) => ({
      key: name,
      label: <UntrustedText text={nameOf(name)} />,
      numeric: rows.every((row) => typeof lookup(row, name) === 'number') && !IS_ID.test(name),
      cell: (row) => <Value value={lookup(row, name)} name={name} depth={MOST_DEPTH} />,
    }));
}

/** What the log keeps of a private value: `{ $hash, $salt }`. */
const isMasked = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value.$hash === 'string' &&
  Object.keys(value).every((key) => key.startsWith('$'));

const Masked = () => (
  <span className="muted" title="Private: the log keeps only a hash of it">
    masked
  </span>
);

const isWide = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null && !isMasked(value)) ||
  (typeof value === 'string' && value.length > LONG);

/** `scheduled_for` and `scheduledFor` as `Scheduled for`. */
export function nameOf(name: string): string {
  const words = name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .replaceAll(/[_-]+/g, ' ')
    .trim();
  const text = words === words.toUpperCase() ? words : words.toLowerCase();
  return (text.charAt(0).toUpperCase() + text.slice(1)).replaceAll(
    /\b(id|url|json|ip)(s?)\b/gi,
    (_all, word: string, many: string) => word.toUpperCase() + many.toLowerCase(),
  );
}
