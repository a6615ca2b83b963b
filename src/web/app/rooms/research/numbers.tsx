import { useState } from 'react';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { useView } from '../room-data.ts';

interface Named {
  readonly id: number;
  readonly name: string;
}
interface Agreement {
  readonly code: Named | null;
  readonly source: Named | null;
  readonly between: string;
  readonly coders: readonly string[];
  readonly measure: string;
  readonly value: number | null;
  readonly interval: { readonly low: number; readonly high: number } | null;
  readonly observed: number | null;
  readonly units: number;
  readonly note?: string;
}
interface Statistics {
  readonly frequencies: readonly {
    readonly code: Named;
    readonly segments: number;
    readonly sources: number;
    readonly characters: number;
    readonly share: number;
  }[];
  readonly co_occurrence: readonly {
    readonly first: Named;
    readonly second: Named;
    readonly exact: number;
    readonly inclusion: number;
    readonly overlap: number;
    readonly together: number;
    readonly coefficient: number;
  }[];
  readonly case_matrix: {
    readonly codes: readonly Named[];
    readonly cases: readonly Named[];
    readonly segments: readonly (readonly number[])[];
  };
}

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
  const [unit, setUnit] = useState('character');
  const agreement = useView<readonly Agreement[]>('research', 'agreement', { unit }, LIVE);
  const statistics = useView<Statistics>('research', 'statistics', {}, LIVE);
  // Coders who never coded the same source have nothing to compare.
  const compared = agreement.data?.filter(({ units }) => units > 0);
  return (
    <>
      <section className="stack" aria-labelledby="agreement">
        <div className="row">
          <h2 id="agreement">Agreement between coders</h2>
          <label className="row nowrap small">
            counted by
            <select className="fit" value={unit} onChange={(event) => setUnit(event.target.value)}>
              <option value="character">character</option>
              <option value="segment">sentence or turn</option>
            </select>
          </label>
        </div>
        <ErrorNotice error={agreement.error} />
        {agreement.loading && <p className="muted">Counting…</p>}
        {compared?.length === 0 ? (
          <Empty title="There is nothing to compare yet">
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
          cell: ({ code }) => (code ? <Foreign text={code.name} /> : 'All codes'),
        },
        { key: 'coders', label: 'Coders', cell: ({ coders }) => <Foreign text={coders.join(', ')} /> },
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
        <h2 id="meetings">Codes that meet</h2>
        {co_occurrence.length === 0 ? (
          <p className="muted">No two codes share text yet.</p>
        ) : (
          <Table
            label="Codes that meet"
            rows={co_occurrence}
            rowKey={({ first, second }) => `${first.id} ${second.id}`}
            columns={[
              { key: 'first', label: 'Code', cell: ({ first }) => <Foreign text={first.name} /> },
              { key: 'second', label: 'and', cell: ({ second }) => <Foreign text={second.name} /> },
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
              { key: 'code', label: 'Code', cell: ({ code }) => <Foreign text={code.name} /> },
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
              { key: 'code', label: 'Code', cell: ({ code }) => <Foreign text={code.name} /> },
              ...case_matrix.cases.map(({ id, name }, at) => ({
                key: String(id),
                label: <Foreign text={name} />,
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
