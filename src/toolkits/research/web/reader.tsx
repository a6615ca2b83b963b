import {
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { VList, type VListHandle } from 'virtua';
import { Button } from '../../../web/ui/field.tsx';
import type { Annotation, Coding, CodingSuggestion, Marks, Range } from './data.ts';
import { giveLanes, type Mark, marksByRow, ReaderRow } from './reader-row.tsx';
import { moveToRow, selectedRange, stretch } from './selection.ts';
import { rowAt, type TextRow } from './use-document.ts';

interface Props {
  readonly name: string;
  readonly rows: readonly TextRow[];
  readonly marks: Marks;
  readonly picked: Range | undefined;
  readonly shown: Range | undefined;
  readonly current: string | undefined;
  readonly list: RefObject<VListHandle | null>;
  onPick(range: Range | undefined): void;
  onCoding(coding: Coding): void;
  onSuggestion(suggestion: CodingSuggestion): void;
}

const NOTHING: readonly never[] = [];

/** The text of a source, only as many rows of it as can be seen, with everything that lies on it. */
export function Reader(props: Props) {
  const { rows, marks, picked, shown, current, list, onPick } = props;
  const box = useRef<HTMLElement>(null);
  const [anchor, setAnchor] = useState<number>();
  const byTouch = useTouchSelection(box);

  const lined = useMemo(() => linesOf(marks), [marks]);
  const byRow = useMemo(() => marksByRow(rows, lined), [rows, lined]);
  const notes = useMemo(() => notesByRow(rows, marks), [rows, marks]);
  const overlay = useMemo(() => marksByRow(rows, overlays(picked, shown)), [rows, picked, shown]);

  const takeSelection = () => {
    setAnchor(undefined);
    const range = box.current ? selectedRange(box.current) : undefined;
    if (!range) return;
    onPick(range);
    // The page paints the passage itself; the browser's selection would not survive the painting.
    getSelection()?.removeAllRanges();
  };
  /** A click on a coded passage shows what lies there; the next click what lies below it. */
  const onClick = (event: MouseEvent) => {
    const target = event.target instanceof Element ? event.target : undefined;
    const keys: string[] = [];
    for (let at = target?.closest<HTMLElement>('[data-mark]'); at; ) {
      if (at.dataset.mark) keys.push(at.dataset.mark);
      at = at.parentElement?.closest<HTMLElement>('[data-mark]');
    }
    if (keys.length === 0 || !getSelection()?.isCollapsed) return;
    const next = keys[(keys.indexOf(current ?? '') + 1) % keys.length];
    const coding = marks.segments.find((each) => `coding-${each.id}` === next);
    const suggestion = marks.suggestions.find((each) => `suggestion-${each.approval_id}` === next);
    if (coding || suggestion) onPick(undefined);
    if (coding) props.onCoding(coding);
    else if (suggestion) props.onSuggestion(suggestion);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.target !== box.current) return;
    const next = keyed(event, rows, picked);
    if (!next) return;
    event.preventDefault();
    onPick(next);
    list.current?.scrollToIndex(rowAt(rows, event.shiftKey ? next.end - 1 : next.start), {
      align: 'nearest',
    });
  };

  return (
    <section
      ref={box}
      className="reader"
      aria-label={`Text of ${props.name}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move the passage that is to be coded
      tabIndex={0}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onPointerDown={(event) => {
        const row = event.target instanceof Element ? event.target.closest('.reader-row') : null;
        const start = row?.querySelector<HTMLElement>('[data-start]')?.dataset.start;
        // The row where a selection starts must stay, however far the pointer scrolls.
        setAnchor(start === undefined ? undefined : rowAt(rows, Number(start)));
      }}
      onPointerUp={(event) => {
        if (event.pointerType !== 'touch') takeSelection();
      }}
    >
      <VList
        ref={list}
        data={rows}
        bufferSize={600}
        className="reader-list"
        {...(anchor === undefined ? {} : { keepMounted: [anchor] })}
      >
        {(row, at) => (
          <ReaderRow
            key={row.start}
            row={row}
            marks={joined(byRow.get(at), overlay.get(at))}
            codings={notes.codings.get(at) ?? NOTHING}
            suggestions={notes.suggestions.get(at) ?? NOTHING}
            annotations={notes.annotations.get(at) ?? NOTHING}
            current={current}
            onCoding={props.onCoding}
            onSuggestion={props.onSuggestion}
          />
        )}
      </VList>
      {byTouch && (
        <div className="reader-touch">
          <Button tone="primary" onPointerDown={(event) => event.preventDefault()} onClick={takeSelection}>
            Code the selected text
          </Button>
        </div>
      )}
    </section>
  );
}

const joined = (a: readonly Mark[] = NOTHING, b: readonly Mark[] = NOTHING): readonly Mark[] =>
  b.length === 0 ? a : [...a, ...b];

function keyed(event: KeyboardEvent, rows: readonly TextRow[], picked: Range | undefined): Range | undefined {
  const by = event.key === 'ArrowDown' || event.key === 'ArrowRight' ? 1 : -1;
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    if (event.shiftKey && picked) return stretch(rows, picked, 'end', by, 'row');
    return moveToRow(rows, picked, by);
  }
  if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return undefined;
  return picked && stretch(rows, picked, event.shiftKey ? 'end' : 'start', by, 'word');
}

const linesOf = ({ segments, suggestions }: Marks): Mark[] =>
  giveLanes([
    ...segments.map((each) => ({
      key: `coding-${each.id}`,
      kind: 'coding' as const,
      start: each.start_position,
      end: each.end_position,
      color: each.color,
    })),
    ...suggestions.map((each) => ({
      key: `suggestion-${each.approval_id}`,
      kind: 'suggestion' as const,
      start: each.start_pos,
      end: each.end_pos,
      color: each.color,
    })),
  ]).map(({ item, lane }) => ({ ...item, lane }));

const overlays = (picked: Range | undefined, shown: Range | undefined): Mark[] => [
  ...(picked ? [{ key: 'picked', kind: 'picked' as const, ...picked, color: '', lane: 0 }] : []),
  ...(shown ? [{ key: 'shown', kind: 'shown' as const, ...shown, color: '', lane: 0 }] : []),
];

function notesByRow(rows: readonly TextRow[], { segments, suggestions, annotations }: Marks) {
  const codings = new Map<number, Coding[]>();
  const waiting = new Map<number, CodingSuggestion[]>();
  const written = new Map<number, Annotation[]>();
  for (const each of segments) put(codings, rowAt(rows, each.start_position), each);
  for (const each of suggestions) put(waiting, rowAt(rows, each.start_pos), each);
  for (const each of annotations) put(written, rowAt(rows, each.start_pos), each);
  return { codings, suggestions: waiting, annotations: written };
}

function put<T>(map: Map<number, T[]>, at: number, item: T): void {
  const here = map.get(at);
  if (here) here.push(item);
  else map.set(at, [item]);
}

/** Fingers select by handles, which end without any event of their own: a button takes the selection over. */
function useTouchSelection(box: RefObject<HTMLElement | null>): boolean {
  const [selected, setSelected] = useState(false);
  useEffect(() => {
    const look = () =>
      setSelected(
        matchMedia('(pointer: coarse)').matches && !!box.current && selectedRange(box.current) !== undefined,
      );
    document.addEventListener('selectionchange', look);
    return () => document.removeEventListener('selectionchange', look);
  }, [box]);
  return selected;
}
