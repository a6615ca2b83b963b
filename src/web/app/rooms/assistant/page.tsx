import { useEffect, useRef } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { ErrorNotice, Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { useView } from '../room-data.ts';
import { useRoomPath } from '../room-path.ts';
import { contentParts, type Entry, roleOf, type SessionRow, type Status } from './transcript.ts';
import './assistant.css';

/** The assistant tells open pages of every step, so nothing here asks by the clock. */
const LIVE = { topics: ['assistant.changed'] } as const;
const LATEST = 500;

/** Who gave the assistant orders, and what was said, as it is said. */
export default function AssistantPage() {
  const [parts, go] = useRoomPath('assistant');
  const status = useView<Status>('assistant', 'status');
  const sessions = useView<{ total: number; sessions: readonly SessionRow[] }>(
    'assistant',
    'sessions',
    { limit: 200 },
    LIVE,
  );
  const rows = sessions.data?.sessions ?? [];
  const chosen = parts[0] ?? rows[0]?.sessionId;
  return (
    <Page title="Assistant" actions={status.data && <Setup status={status.data} />}>
      <ErrorNotice error={sessions.error ?? status.error} />
      {status.data?.problem && (
        <Notice tone="warn">
          <p>
            <Foreign text={status.data.problem.message} />
          </p>
        </Notice>
      )}
      {sessions.data && rows.length === 0 && (
        <Empty title="Nobody has given the assistant an order yet">
          <p>
            Agents do so with the tool <code>order_clawdbot</code>. Each conversation appears here while it
            goes on.
          </p>
        </Empty>
      )}
      {rows.length > 0 && (
        <div className="talks">
          <nav aria-label="Sessions" className="talk-list">
            <ul className="plain-list">
              {rows.map((row) => (
                <li key={row.sessionId}>
                  <button
                    type="button"
                    className="talk-choice"
                    title={`Session ${row.key}`}
                    aria-current={row.sessionId === chosen ? 'true' : undefined}
                    onClick={() => go(row.sessionId)}
                  >
                    <span className="talk-title">
                      <Foreign text={row.lastOrder ?? row.key} />
                    </span>
                    <span className="muted small">
                      {row.caller}, <TimeAgo at={new Date(row.updatedAt).toISOString()} />
                    </span>
                    {row.working && <Badge tone="info">working</Badge>}
                    {row.abortedLastRun && !row.working && <Badge tone="warn">stopped early</Badge>}
                  </button>
                </li>
              ))}
            </ul>
          </nav>
          {chosen && <Talk key={chosen} id={chosen} />}
        </div>
      )}
    </Page>
  );
}

function Setup({ status }: { readonly status: Status }) {
  return (
    <span className="row small">
      <Badge tone={status.configured ? 'good' : 'warn'}>{status.configured ? 'ready' : 'not set up'}</Badge>
      <span className="muted">
        {status.backend === 'command' ? 'command-line agent' : (status.model ?? 'no model')}
      </span>
    </span>
  );
}

interface Conversation {
  readonly session: SessionRow;
  readonly total: number;
  readonly entries: readonly Entry[];
}

function Talk({ id }: { readonly id: string }) {
  // Of a very long conversation the latest part is shown; the count is known after the first answer.
  const count = useView<Conversation>('assistant', 'transcript', { id, limit: 1 }, LIVE);
  const total = count.data?.total;
  const offset = Math.max(0, (total ?? 0) - LATEST);
  const talk = useView<Conversation>(
    'assistant',
    'transcript',
    { id, limit: LATEST, offset },
    { ...LIVE, asleep: total === undefined },
  );
  const session = talk.data?.session;
  const end = useRef<HTMLDivElement>(null);
  const length = talk.data?.entries.length ?? 0;
  useEffect(() => {
    if (length > 0) end.current?.scrollIntoView({ block: 'nearest' });
  }, [length]);
  return (
    <section className="talk stack" aria-label="Transcript">
      <ErrorNotice error={count.error ?? talk.error} />
      {!talk.data && !count.error && !talk.error && <p className="muted">Loading…</p>}
      {session && (
        <p className="muted small">
          Session{' '}
          <code>
            <Foreign text={session.key} />
          </code>{' '}
          of {session.caller}
        </p>
      )}
      {offset > 0 && <p className="muted small">The first {offset} entries are not shown.</p>}
      <ol className="plain-list stack" aria-live="polite">
        {talk.data?.entries.map((entry) => (
          <li key={entry.seq} className={`said said-${entry.message?.role ?? entry.type}`}>
            <p className="muted small">
              {roleOf(entry)}, <TimeAgo at={entry.timestamp} />
              {entry.inContext === false && ', no longer shown to the model'}
            </p>
            <Said entry={entry} />
          </li>
        ))}
      </ol>
      <p className="muted small" role="status">
        {session?.working && <Foreign text={session.doing ?? 'Working on it…'} />}
      </p>
      <div ref={end} />
    </section>
  );
}

function Said({ entry }: { readonly entry: Entry }) {
  return contentParts(entry).map((part) =>
    part.kind === 'text' ? (
      <Foreign key={part.key} block text={part.text} />
    ) : (
      <details key={part.key}>
        <summary>
          {part.label} <Foreign text={part.name} />
        </summary>
        <JsonView value={part.value} label={part.label} />
      </details>
    ),
  );
}
