import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { VListHandle } from 'virtua';
import { Empty } from '../../../web/ui/badge.tsx';
import { onServerEvent, useServerEvent } from '../../../web/ui/events.ts';
import { Button } from '../../../web/ui/field.tsx';
import { useKeys, useSettled } from '../../../web/ui/keys.ts';
import { ErrorNotice, Notice } from '../../../web/ui/notice.tsx';
import { useAct, useDecide, type Verdict } from '../../../web/ui/page-data.ts';
import { useErrorToast, useToast } from '../../../web/ui/toast.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { CodePicker } from './code-detail.tsx';
import { CodebookPanel } from './codebook-panel.tsx';
import { counted } from './counted.ts';
import { flatCodes, type Range, useView } from './data.ts';
import { Find, Inspector } from './inspector.tsx';
import { Reader } from './reader.tsx';
import { textOf } from './selection.ts';
import { AddSource, SourceList } from './source-list.tsx';
import { rowAt, useDocument } from './use-document.ts';

interface Props {
  /** Source, and the start and end of a passage to show. */
  readonly parts: readonly string[];
  go(...parts: (string | number)[]): void;
}

/** Sources on one side, the text in the middle, what is known about a passage on the other. */
export function Read({ parts, go }: Props) {
  const act = useAct();
  const decide = useDecide();
  const say = useToast();
  const describeError = useErrorToast();
  const list = useRef<VListHandle>(null);
  const sources = useView('sources', {}, { topics: ['research.changed'] });
  const tree = useView('codes', {}, { topics: ['approvals', 'research.changed'] });
  const codes = useMemo(() => (tree.data ? flatCodes(tree.data) : []), [tree.data]);

  const asked = parts[0] === undefined ? undefined : Number(parts[0]);
  const first = sources.data?.find(({ has_text }) => has_text)?.id;
  const source = sources.data?.find(({ id }) => id === (asked ?? first));
  const text = useDocument(source?.has_text ? source.id : undefined);
  const { rows, marks, reloadMarks } = text;

  const [picked, setPicked] = useState<Range>();
  const [currentKey, setCurrent] = useState<string>();
  const [picking, setPicking] = useState(false);
  const [memo, setMemo] = useState('');
  const [chosenCode, setChosenCode] = useState<number>();
  const [turn, setTurn] = useState(0);
  useServerEvent('research.navigate', () => setTurn((before) => before + 1));
  useEffect(() => {
    const again = () => void reloadMarks().catch(() => {});
    const stops = ['approvals', 'research.changed'].map((topic) => onServerEvent(topic, again));
    return () => {
      for (const stop of stops) stop();
    };
  }, [reloadMarks]);

  const start = parts[1] === undefined ? undefined : Number(parts[1]);
  const end = parts[2] === undefined ? undefined : Number(parts[2]);
  const shown = useMemo(
    () => (start !== undefined && end !== undefined ? { start, end } : undefined),
    [start, end],
  );
  const reached = start !== undefined && (text.complete || (rows.at(-1)?.end ?? -1) > start);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that arrive later must not scroll the reader again
  useEffect(() => {
    if (reached && start !== undefined) return scrollTo(list.current, rowAt(rows, start));
  }, [reached, start, end, turn, source?.id]);

  const reload = useCallback(async () => {
    await Promise.all([reloadMarks(), tree.refresh(), sources.refresh()]);
  }, [reloadMarks, tree.refresh, sources.refresh]);

  const suggestions = useMemo(
    () => [...marks.suggestions].sort((a, b) => a.start_pos - b.start_pos || a.approval_id - b.approval_id),
    [marks],
  );
  const suggestion = suggestions.find((each) => `suggestion-${each.approval_id}` === currentKey);
  const coding = marks.segments.find((each) => `coding-${each.id}` === currentKey);

  const move = (by: 1 | -1) => {
    const at = suggestion ? suggestions.indexOf(suggestion) : by === 1 ? -1 : suggestions.length;
    const next = suggestions[at + by] ?? suggestions[by === 1 ? 0 : suggestions.length - 1];
    if (!next) return;
    setCurrent(`suggestion-${next.approval_id}`);
    scrollTo(list.current, rowAt(rows, next.start_pos));
  };
  const moveCoding = (by: 1 | -1) => {
    const all = [...marks.segments].sort((a, b) => a.start_position - b.start_position || a.id - b.id);
    const at = coding ? all.indexOf(coding) : by === 1 ? -1 : all.length;
    const next = all[at + by] ?? all[by === 1 ? 0 : all.length - 1];
    if (!next) return;
    setPicked(undefined);
    setCurrent(`coding-${next.id}`);
    scrollTo(list.current, rowAt(rows, next.start_position));
  };
  const settle = async (verdict: Verdict) => {
    if (!suggestion) return;
    const at = suggestions.indexOf(suggestion);
    const following = suggestions[at + 1] ?? suggestions[at - 1];
    if (!(await decide(suggestion, verdict))) return reload();
    say(verdict === 'approve' ? `Coded as ${suggestion.code_name}.` : 'Suggestion rejected.', {
      tone: 'good',
    });
    setCurrent(following && `suggestion-${following.approval_id}`);
    await reload();
  };
  const apply = async (codeId: number) => {
    if (!picked || !source) return;
    setPicking(false);
    const operation = {
      code_id: codeId,
      source_id: source.id,
      start_position: picked.start,
      end_position: picked.end,
      ...(memo.trim() ? { memo: memo.trim() } : {}),
    };
    const done = await act('batch_apply_codes', { operations: [operation] });
    const answer = done.ok ? (done.data as { results?: { error?: string | null }[] }) : undefined;
    const problem = answer?.results?.[0]?.error;
    if (problem) describeError(new Error(problem));
    if (!done.ok || problem) return;
    say('Coded.', { tone: 'good', action: { label: 'Undo', run: () => void undo(done.call) } });
    setPicked(undefined);
    setMemo('');
    await reload();
    document.querySelector<HTMLElement>('.reader')?.focus();
  };
  /** Exactly that call: an agent may have changed the project since. */
  const undo = async (call: string) => {
    await act('undo_change', { call_id: call }, 'Undone.');
    await reload();
  };
  const remove = async (id: number) => {
    const done = await act('remove_coding', { segment_id: id });
    if (!done.ok) return;
    say('Coding removed.', { tone: 'good', action: { label: 'Undo', run: () => void undo(done.call) } });
    setCurrent(undefined);
    await reload();
  };

  /** With a passage the code is applied; without, each press goes to its next passage. */
  const chooseCode = (id: number) => {
    if (picked) return void apply(id);
    const own = marks.segments
      .filter(({ code_id }) => code_id === id)
      .sort((a, b) => a.start_position - b.start_position || a.id - b.id);
    setChosenCode(id);
    const next = own[(own.findIndex((each) => each.id === coding?.id) + 1) % Math.max(1, own.length)];
    if (!next) return say('No passage of this source has the code.');
    setCurrent(`coding-${next.id}`);
    scrollTo(list.current, rowAt(rows, next.start_position));
  };
  const clear = () => {
    setMemo('');
    setPicked(undefined);
    setCurrent(undefined);
  };
  useSettled(currentKey ?? '');
  useKeys({
    move: { n: () => move(1), p: () => move(-1), j: () => moveCoding(1), k: () => moveCoding(-1) },
    act: { c: () => setPicking(picked !== undefined), Escape: clear },
    decide: {
      d: () => coding && void remove(coding.id),
      a: () => void settle('approve'),
      r: () => void settle('reject'),
    },
  });

  if (sources.error) return <ErrorNotice error={sources.error} />;
  if (sources.data?.length === 0)
    return (
      <div className="stack">
        <Empty title="No sources yet" icon="file">
          <p>
            Add a text here, import documents in QualCoder, or let an agent call <code>add_source</code>.
          </p>
        </Empty>
        <AddSource onAdded={reload} />
      </div>
    );
  return (
    <div className="read">
      <div className="read-side">
        <SourceList
          sources={sources.data ?? []}
          current={source?.id}
          onOpen={(id) => {
            clear();
            go(id);
          }}
        />
        <details>
          <summary>Add a source</summary>
          <AddSource onAdded={reload} />
        </details>
      </div>
      <div className="read-middle">
        {asked !== undefined && sources.data && !source && (
          <Notice tone="warn">This project has no source {asked}.</Notice>
        )}
        <ErrorNotice error={text.error} />
        {source && (
          <>
            <div className="read-bar">
              <h2>
                <UntrustedText text={source.name} />
              </h2>
              <Find rows={rows} onFound={(range) => go(source.id, range.start, range.end)} />
            </div>
            {source.has_text ? (
              <Reader
                name={source.name}
                rows={rows}
                marks={marks}
                picked={picked}
                shown={shown}
                current={currentKey}
                list={list}
                onPick={(range) => {
                  setPicked(range);
                  setCurrent(undefined);
                }}
                onCoding={(each) => setCurrent(`coding-${each.id}`)}
                onSuggestion={(each) => setCurrent(`suggestion-${each.approval_id}`)}
              />
            ) : (
              <Empty title="This source has no text" icon="file">
                <p>Images, audio and video are coded in QualCoder.</p>
              </Empty>
            )}
            <p className="muted small" role="status">
              {shown ? `Showing ${shown.start}–${shown.end}. ` : ''}
              {text.complete || !source.has_text
                ? `${counted(text.total, 'character')}, ${counted(marks.segments.length, 'coding')}`
                : 'Loading the rest…'}
            </p>
          </>
        )}
      </div>
      <div className={picked || coding || suggestion ? 'read-side is-active' : 'read-side'}>
        <Inspector
          coding={coding}
          suggestion={suggestion}
          waiting={suggestions.length}
          passage={picked && textOf(rows, picked)}
          codes={codes}
          memo={memo}
          onMemo={setMemo}
          onChanged={async (id) => {
            await reload();
            setCurrent(`coding-${id}`);
          }}
          onAccept={() => void settle('approve')}
          onReject={() => void settle('reject')}
          onRemove={(id) => void remove(id)}
          onNext={() => move(1)}
        />
        {picked && (
          <Button tone="primary" shortcut="c" onClick={() => setPicking(true)}>
            Code this passage
          </Button>
        )}
        {tree.data && (
          <CodebookPanel
            tree={tree.data}
            applies={picked !== undefined}
            chosen={coding?.code_id ?? chosenCode}
            onChoose={chooseCode}
          />
        )}
      </div>
      {picking && picked && (
        <CodePicker
          codes={codes}
          passage={textOf(rows, picked)}
          onClose={() => setPicking(false)}
          onPick={(id) => void apply(id)}
          onCreated={reload}
        />
      )}
    </div>
  );
}

/** Rows get their true height only when they are on the page, so the passage itself is looked for afterwards. */
function scrollTo(list: VListHandle | null, row: number): () => void {
  list?.scrollToIndex(row, { align: 'center' });
  const timer = setTimeout(() => {
    document.querySelector('.reader [data-shown]')?.scrollIntoView({ block: 'nearest' });
  }, 200);
  return () => clearTimeout(timer);
}
