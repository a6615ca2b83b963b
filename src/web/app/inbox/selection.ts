import { useCallback, useRef, useState } from 'react';
import type { Brief } from '../../../kernel/views/shapes.ts';
import type { Inbox } from './paging.ts';

export interface Selection {
  readonly rows: ReadonlyMap<number, Brief>;
  /** Everything that the filter matches, loaded or not. */
  readonly matching: boolean;
  readonly size: number;
  has(id: number): boolean;
  /** With `range`, everything from the last choice up to here. */
  toggle(row: Brief, range: boolean): void;
  selectAll(): void;
  clear(): void;
}

export function useSelection(inbox: Inbox): Selection {
  const [rows, setRows] = useState<ReadonlyMap<number, Brief>>(new Map());
  const [matching, setMatching] = useState(false);
  const anchor = useRef<number>(undefined);
  const clear = useCallback(() => {
    setRows(new Map());
    setMatching(false);
    anchor.current = undefined;
  }, []);
  return {
    rows,
    matching,
    size: matching ? inbox.rows.length : rows.size,
    has: (id) => matching || rows.has(id),
    toggle(row, range) {
      const all = inbox.rows.filter((one) => one !== undefined);
      const base: ReadonlyMap<number, Brief> = matching ? new Map(all.map((one) => [one.id, one])) : rows;
      const next = new Map(base);
      const to = all.findIndex(({ id }) => id === row.id);
      const from = all.findIndex(({ id }) => id === anchor.current);
      if (range && from >= 0 && to >= 0)
        for (const one of all.slice(Math.min(from, to), Math.max(from, to) + 1)) next.set(one.id, one);
      else if (!next.delete(row.id)) next.set(row.id, row);
      anchor.current = row.id;
      setMatching(false);
      setRows(next);
    },
    selectAll() {
      const known = inbox.rows.filter((one) => one !== undefined);
      const complete = known.length === inbox.rows.length;
      setMatching(!complete);
      setRows(complete ? new Map(known.map((one) => [one.id, one])) : new Map());
    },
    clear,
  };
}
