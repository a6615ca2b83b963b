import { useEffect, useRef, useState } from 'react';
import { Badge, Empty, Skeleton } from '../../../web/ui/badge.tsx';
import { Button } from '../../../web/ui/field.tsx';
import { ErrorNotice, Notice } from '../../../web/ui/notice.tsx';
import { Page, TimeAgo } from '../../../web/ui/page-head.tsx';
import { Pending } from '../../../web/ui/pending.tsx';
import { ResultView } from '../../../web/ui/result-view.tsx';
import { usePagePath, useSession } from '../../../web/ui/session.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { Composer, newSessionKey } from './composer.tsx';
import { contentParts, type Entry, roleOf, type Status, useView } from './transcript.ts';
import './assistant.css';

/** The assistant notifies open pages of every step, so nothing here asks by the clock. */
const LIVE = { topics: ['assistant.changed'] } as const;
const LATEST = 500;
/** The place of a conversation that has not begun. */
const NEW = 'new';

/** Who gave the assistant orders, and what was said, as it is said. */
export default function AssistantPage() {
  const { session: mine } = useSession();
  const [parts, go] = usePagePath('assistant');
  const status = useView('status', {});
  const sessions = useView('sessions', { limit: 200 }, LIVE);
  const rows = sessions.data?.sessions ?? [];
  const [newKey, setNewKey] = useState(newSessionKey);
  const started = rows.find(({ key }) => key === newKey);
  const isNew = parts[0] === NEW || (sessions.data !== undefined && rows.length === 0);
  const chosen = isNew ? undefined : (parts[0] ?? rows[0]?.sessionId);
  // A conversation that the person began opens as soon as it is known.
  const startedId = started?.sessionId;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the conversation appears
  useEffect(() => {
    if (startedId === undefined) return;
    go(startedId);
    setNewKey(newSessionKey());
  }, [startedId]);
  const canOrder = status.data?.configured === true;
  return (
    <Page
      title="Assistant"
      actions={
        <>
          {status.data && <Setup status={status.data} />}
          {canOrder && !isNew && (
            <Button small icon="plus" onClick={() => go(NEW)}>
              New conversation
            </Button>
          )}
        </>
      }
    >
      <Pending filter="agent=agent:assistant" />
      <Pending filter="toolkit=assistant" />
      <ErrorNotice error={sessions.error ?? status.error} />
      {status.data?.problem && (
        <Notice tone="warn">
          <p>
            <UntrustedText text={status.data.problem.message} />
          </p>
        </Notice>
      )}
      {sessions.data && rows.length === 0 && (
        <Empty title="No orders yet" icon="chat">
          <p>
            {canOrder
              ? 'Write to the assistant below, or let agents'
              : 'Set up a model, then write to the assistant here or let agents'}{' '}
            send orders with the tool <code>order_clawdbot</code>. Each conversation appears here while it is
            running.
          </p>
        </Empty>
      )}
      {rows.length === 0 && canOrder && <Composer key={newKey} sessionKey={newKey} isNew working={false} />}
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
                      <UntrustedText text={row.lastOrder ?? row.key} />
                    </span>
                    <span className="muted small">
                      {nameOf(row.caller, mine.person)},{' '}
                      <TimeAgo at={new Date(row.updatedAt).toISOString()} />
                    </span>
                    {row.working && <Badge tone="info">working</Badge>}
                    {row.abortedLastRun && !row.working && <Badge tone="warn">stopped early</Badge>}
                  </button>
                </li>
              ))}
            </ul>
          </nav>
          {chosen ? (
            <Talk key={chosen} id={chosen} canOrder={canOrder} />
          ) : (
            canOrder && <Composer key={newKey} sessionKey={newKey} isNew working={false} />
          )}
        </div>
      )}
    </Page>
  );
}

const nameOf = (caller: string, person: string): string =>
  caller === `person:${person}` ? 'you' : caller.replace(/^(agent|person):/, '');

function Setup({ status }: { readonly status: Status }) {
  return (
    <span className="row small">
      <Badge tone={status.configured ? 'good' : 'warn'}>{status.configured ? 'ready' : 'not set up'}</Badge>
      <span className="muted wide-only">
        {status.backend === 'command' ? 'command-line agent' : (status.model ?? 'no model')}
      </span>
    </span>
  );
}

function Talk({ id, canOrder }: { readonly id: string; readonly canOrder: boolean }) {
  const { session: mine } = useSession();
  // Of a very long conversation the latest part is shown; the count is known after the first answer.
  const count = useView('transcript', { id, limit: 1 }, LIVE);
  const total = count.data?.total;
  const offset = Math.max(0, (total ?? 0) - LATEST);
  const talk = useView('transcript', { id, limit: LATEST, offset }, { ...LIVE, asleep: total === undefined });
  const session = talk.data?.session;
  const end = useRef<HTMLDivElement>(null);
  const length = talk.data?.entries.length ?? 0;
  useEffect(() => {
    if (length > 0) end.current?.scrollIntoView({ block: 'nearest' });
  }, [length]);
  return (
    <section className="talk stack" aria-label="Transcript">
      <ErrorNotice error={count.error ?? talk.error} />
      {!talk.data && !count.error && !talk.error && <Skeleton lines={4} />}
      {session && (
        <p className="muted small" title={`Session ${session.key}`}>
          Conversation of {nameOf(session.caller, mine.person)}
        </p>
      )}
      {offset > 0 && <p className="muted small">The first {offset} entries are not shown.</p>}
      <ol className="plain-list stack" aria-live="polite">
        {talk.data?.entries.map((entry) => (
          <li key={entry.seq} className={`talk-part talk-${entry.message?.role ?? entry.type}`}>
            <p className="muted small">
              {roleOf(entry)}, <TimeAgo at={entry.timestamp} />
              {entry.inContext === false && ', no longer shown to the model'}
            </p>
            <Said entry={entry} />
          </li>
        ))}
      </ol>
      <p className="muted small" role="status">
        {session?.working && <UntrustedText text={session.doing ?? 'Working on it…'} />}
      </p>
      <div ref={end} />
      {session && session.caller === `person:${mine.person}` && canOrder && (
        <Composer
          sessionKey={session.key}
          isNew={false}
          working={session.working}
          onSent={() => end.current?.scrollIntoView({ block: 'nearest' })}
        />
      )}
      {session && session.caller !== `person:${mine.person}` && (
        <p className="muted small">
          This conversation belongs to {nameOf(session.caller, mine.person)}; no one else can continue it.
          Start one of your own.
        </p>
      )}
    </section>
  );
}

function Said({ entry }: { readonly entry: Entry }) {
  return contentParts(entry).map((part) =>
    part.kind === 'text' ? (
      <UntrustedText key={part.key} block text={part.text} />
    ) : (
      <details key={part.key}>
        <summary>
          {part.label} <UntrustedText text={part.name} />
        </summary>
        <ResultView value={part.value} label={`${part.label} ${part.name}`} />
      </details>
    ),
  );
}
