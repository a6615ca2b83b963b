import { useCallback, useEffect, useRef, useState } from 'react';
import { type ApiError, toApiError } from '../../lib/api.ts';
import { readView } from '../room-data.ts';
import { appendRows, type TextRow } from './text-rows.ts';
import type { Marks, SourcePage } from './types.ts';

const PAGE = 200_000;
const NO_MARKS: Marks = { segments: [], suggestions: [], annotations: [] };

export interface OpenDocument {
  readonly rows: readonly TextRow[];
  readonly marks: Marks;
  readonly total: number;
  /** True once the last page is here. */
  readonly complete: boolean;
  readonly error: ApiError | undefined;
  /** Looks at the marks again; the text does not change under a reader. */
  reloadMarks(): Promise<void>;
}

/** A source page by page: the first page shows at once, the rest follows in the background. */
export function useDocument(sourceId: number | undefined): OpenDocument {
  const [rows, setRows] = useState<readonly TextRow[]>([]);
  const [marks, setMarks] = useState(NO_MARKS);
  const [total, setTotal] = useState(0);
  const [complete, setComplete] = useState(false);
  const [error, setError] = useState<ApiError>();
  const current = useRef(sourceId);
  current.current = sourceId;

  const reloadMarks = useCallback(async () => {
    if (sourceId === undefined) return;
    const found = await readView<Marks>('research', 'marks', { source_id: sourceId });
    if (current.current === sourceId) setMarks(found);
  }, [sourceId]);

  useEffect(() => {
    setRows([]);
    setMarks(NO_MARKS);
    setComplete(false);
    setError(undefined);
    if (sourceId === undefined) return;
    let open = true;
    const load = async () => {
      let at = 0;
      for (let more = true; more && open; ) {
        const params = { source_id: sourceId, start_pos: at, max_length: at === 0 ? PAGE / 10 : PAGE };
        const page = await readView<SourcePage>('research', 'source', params);
        if (!open) return;
        setTotal(page.total_length);
        setRows((before) => appendRows(page.start_pos === 0 ? [] : before, page.content, page.start_pos));
        at = page.end_pos;
        more = page.has_more;
        // The codings are for the eye that already reads the first page.
        if (page.start_pos === 0) await reloadMarks();
      }
      if (open) setComplete(true);
    };
    load().catch((problem: unknown) => {
      if (open) setError(toApiError(problem));
    });
    return () => {
      open = false;
    };
  }, [sourceId, reloadMarks]);

  return { rows, marks, total, complete, error, reloadMarks };
}
