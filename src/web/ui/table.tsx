import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly key: string;
  readonly label: ReactNode;
  readonly numeric?: boolean;
  /** Left out on a narrow screen. */
  readonly minor?: boolean;
  cell(row: Row): ReactNode;
}

interface Props<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  rowKey(row: Row): string | number;
}

export function Table<Row>({ label, columns, rows, rowKey }: Props<Row>) {
  const classOf = ({ numeric, minor }: Column<Row>): string =>
    `${numeric ? 'numeric' : ''}${minor ? ' minor' : ''}`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="table-box" tabIndex={0} aria-label={label}>
      <table className="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.key} scope="col" className={classOf(column)}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column) => (
                <td key={column.key} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
