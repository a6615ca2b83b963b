import { useState } from 'react';
import type { ViewData } from '../../../contract/view.ts';
import { Empty } from '../../../web/ui/badge.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { Table } from '../../../web/ui/table.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import type { views } from '../views.ts';
import { useView } from './data.ts';

interface Named {
  readonly id: number;
  readonly name: string;
}
type Agreement = ViewData<typeof views.agreement>[number];
type Statistics = ViewData<typeof views.statistics>;

interface CaseRow {
  readonly code: Named;
  readonly counts: readonly number[];
}

const LIVE = { topics: ['research.changed'] } as const;
const MEASURES: Readonly<Record<string, string>> = {
  cohen_kappa: 'Cohen’s κ',
  fleiss_kappa: 'Fleiss’ κ',
  krippendorff_alpha: 'Krippendorff’s α',
};
/** Two places, and no sign before a zero. */
const two = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : (Math.round(value * 100) / 100 + 0).toFixed(2);
const percent = (value: number) => `${(value * 100).toFixed(1)} %`;

/** How far coders agree, which codes meet and how often each is used. */
export function Numbers() {
  const [unit, setUnit] = useState<'character' | 'segment'>('character');
  const agreement = useView('agreement', { unit }, LIVE);
  const statistics = useView('statistics', {}, LIVE);
  // Coders who never coded the same source have nothing to compare.
  const compared = agreement.data?.filter(({ units }) => units > 0);
  return (
    <>
      <section className="stack" aria-labelledby="agreement">
        <div className="row">
          <h2 id="agreement">Agreement between coders</h2>
          <label className="row nowrap small">
            counted by
            <select
              className="fit"
              value={unit}
              onChange={(event) => setUnit(event.target.value === 'segment' ? 'segment' : 'character')}
            >
              <option value="character">character</option>
              <option value="segment">sentence or turn</option>
            </select>
          </label>
        </div>
        <ErrorNotice error={agreement.error} />
        {agreement.loading && <p className="muted">Counting…</p>}
        {compared?.length === 0 ? (
          <Empty title="Nothing to compare yet" icon="insights">
            <p>Agreement needs two coders, people or agents, who coded the same source.</p>
          </Empty>
        ) : (
          compared && <AgreementTable rows={compared} />
        )}
      </section>
      <ErrorNotice error={statistics.error} />
      {statistics.data && <Tables statistics={statistics.data} />}
    </>
  );
}

function AgreementTable({ rows }: { readonly rows: readonly Agreement[] }) {
  return (
    <Table
      label="Agreement between coders"
      rows={rows}
      rowKey={(row) => [row.measure, row.between, row.code?.id, row.source?.id, ...row.coders].join(' ')}
      columns={[
        {
          key: 'code',
          label: 'Code',
          cell: ({ code }) => (code ? <UntrustedText text={code.name} /> : 'All codes'),
        },
        { key: 'coders', label: 'Coders', cell: ({ coders }) => <UntrustedText text={coders.join(', ')} /> },
        { key: 'measure', label: 'Measure', cell: ({ measure }) => MEASURES[measure] ?? measure },
        {
          key: 'value',
          label: 'Value',
          numeric: true,
          cell: ({ value, note }) => <span title={note}>{two(value)}</span>,
        },
        {
          key: 'interval',
          label: '95 % interval',
          numeric: true,
          minor: true,
          cell: ({ interval }) => (interval ? `${two(interval.low)} to ${two(interval.high)}` : '–'),
        },
        {
          key: 'observed',
          label: 'Observed',
          numeric: true,
          minor: true,
          cell: ({ observed }) => (observed === null ? '–' : percent(observed)),
        },
        { key: 'units', label: 'Units', numeric: true, minor: true, cell: ({ units }) => units },
      ]}
    />
  );
}

function Tables({ statistics: { frequencies, co_occurrence, case_matrix } }: { statistics: Statistics }) {
  return (
    <>
      <section className="stack" aria-labelledby="meetings">
        <h2 id="meetings">Codes that share text</h2>
        {co_occurrence.length === 0 ? (
          <p className="muted">No two codes share text yet.</p>
        ) : (
          <Table
            label="Codes that share text"
            rows={co_occurrence}
            rowKey={({ first, second }) => `${first.id} ${second.id}`}
            columns={[
              { key: 'first', label: 'Code', cell: ({ first }) => <UntrustedText text={first.name} /> },
              { key: 'second', label: 'and', cell: ({ second }) => <UntrustedText text={second.name} /> },
              { key: 'together', label: 'Together', numeric: true, cell: ({ together }) => together },
              { key: 'exact', label: 'Same', numeric: true, minor: true, cell: ({ exact }) => exact },
              { key: 'in', label: 'Inside', numeric: true, minor: true, cell: ({ inclusion }) => inclusion },
              { key: 'over', label: 'Overlap', numeric: true, minor: true, cell: ({ overlap }) => overlap },
              { key: 'c', label: 'Coefficient', numeric: true, cell: ({ coefficient }) => two(coefficient) },
            ]}
          />
        )}
      </section>
      <section className="stack" aria-labelledby="frequencies">
        <h2 id="frequencies">How often each code is used</h2>
        {frequencies.length === 0 ? (
          <p className="muted">The codebook is empty.</p>
        ) : (
          <Table
            label="How often each code is used"
            rows={frequencies}
            rowKey={({ code }) => code.id}
            columns={[
              { key: 'code', label: 'Code', cell: ({ code }) => <UntrustedText text={code.name} /> },
              { key: 'segments', label: 'Codings', numeric: true, cell: ({ segments }) => segments },
              { key: 'sources', label: 'Sources', numeric: true, cell: ({ sources }) => sources },
              {
                key: 'characters',
                label: 'Characters',
                numeric: true,
                minor: true,
                cell: ({ characters }) => characters.toLocaleString('en'),
              },
              { key: 'share', label: 'Share', numeric: true, cell: ({ share }) => percent(share) },
            ]}
          />
        )}
      </section>
      {case_matrix.cases.length > 0 && (
        <section className="stack" aria-labelledby="cases">
          <h2 id="cases">Codes by case</h2>
          <Table
            label="Codes by case"
            rows={case_matrix.codes.map(
              (code, at): CaseRow => ({ code, counts: case_matrix.segments[at] ?? [] }),
            )}
            rowKey={({ code }) => code.id}
            columns={[
              { key: 'code', label: 'Code', cell: ({ code }) => <UntrustedText text={code.name} /> },
              ...case_matrix.cases.map(({ id, name }, at) => ({
                key: String(id),
                label: <UntrustedText text={name} />,
                numeric: true,
                cell: ({ counts }: CaseRow) => counts[at] ?? 0,
              })),
            ]}
          />
        </section>
      )}
    </>
  );
}
