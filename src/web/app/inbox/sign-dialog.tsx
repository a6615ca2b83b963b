import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Item } from '../../../kernel/views/shapes.ts';
import type { SignedResult, ToSign } from '../../routes/shapes.ts';
import { type ApiError, toApiError, useQuery } from '../../ui/api.ts';
import { Badge, EnvironmentBadge, Skeleton, shortName } from '../../ui/badge.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Button } from '../../ui/field.tsx';
import { FoldsProvider, Unshown, useFolds } from '../../ui/folds.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ErrorNotice, ErrorText, Notice } from '../../ui/notice.tsx';
import { readableDigest, signDecisions } from '../../ui/passkey.ts';
import { PlacedTitle } from '../../ui/untrusted-text.tsx';
import { ItemBody } from './body.tsx';
import { RiskNotes } from './facts.tsx';
import { useSeen } from './use-seen.ts';
import '../styles/deciding.css';

interface Props {
  /** What one signature decides, in the versions that the person opened. */
  readonly items: readonly { readonly id: number; readonly version: number; readonly requester: string }[];
  /** The button names the act: “Sign and post”. */
  readonly act: string;
  readonly danger?: boolean;
  onSigned(results: readonly SignedResult[]): void;
  onClose(): void;
}

/**
 * Shows all that is signed, and asks the authenticator only after all of it was on screen. The sheet is the only thing
 * that scrolls, so no line can stay out of sight inside of it.
 */
export function SignDialog({ items, act, danger = false, onSigned, onClose }: Props) {
  const folds = useFolds(true);
  const content = useRef<HTMLElement>(null);
  const seen = useSeen(content, folds.loading === 0);
  const [request, setRequest] = useState<ToSign>();
  const [problem, setProblem] = useState<ApiError>();
  const waiting = useRef<AbortController>(undefined);
  const [isWaiting, setWaiting] = useState(false);
  const isRead = seen.share === 1 && folds.folded + folds.loading === 0;
  const { next } = seen;

  const sign = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!isRead || !seen.isAll() || waiting.current) return;
    const stop = new AbortController();
    waiting.current = stop;
    setWaiting(true);
    setProblem(undefined);
    try {
      onSigned(await signDecisions(items, { signal: stop.signal, onAsk: setRequest }));
    } catch (fault) {
      setProblem(toApiError(fault));
    }
    waiting.current = undefined;
    setWaiting(false);
  };
  /** While the authenticator waits, closing calls that off; what was read stays read. */
  const back = (): void => {
    const isOpen = content.current?.closest('dialog')?.open === true;
    if (!waiting.current || !isOpen) onClose();
    waiting.current?.abort();
  };
  useEffect(() => () => waiting.current?.abort(), []);

  useEffect(() => {
    const dialog = content.current?.closest('dialog');
    const page = (event: KeyboardEvent): void => {
      if (event.key !== ' ' || (event.target as Element).closest('button, a, input, select, textarea'))
        return;
      event.preventDefault();
      next();
    };
    dialog?.addEventListener('keydown', page);
    return () => dialog?.removeEventListener('keydown', page);
  });
  // The button that paged is gone at the end; a key that was meant for it must not sign.
  useEffect(() => {
    if (isRead && !document.activeElement?.closest('.dialog-head, .sign-content'))
      content.current?.focus({ preventScroll: true });
  }, [isRead]);

  const askers = [...new Set(items.map(({ requester }) => shortName(requester)))].join(', ');
  const signer = request?.person === undefined ? undefined : shortName(request.person);
  const valid = items.length === 1 ? 'This call, these arguments, once' : 'These calls, each once';
  return (
    <Dialog
      wide
      className="sign-sheet"
      title={items.length === 1 ? 'Sign this decision' : `Sign ${items.length} decisions`}
      formId="sign-form"
      onClose={back}
      footer={
        <>
          <progress className="sign-progress" max={1} value={seen.share} aria-label="Shown so far" />
          {isWaiting ? (
            <>
              <span className="empty-icon">
                <Icon name="fingerprint" />
              </span>
              <p className="dialog-note" role="status">
                <strong>Waiting for your passkey</strong>
                <br />
                Confirm in your browser's dialog. Nothing runs until you do.
              </p>
              <Button onClick={back}>Cancel</Button>
            </>
          ) : (
            <>
              <div className="dialog-note" role="status">
                {problem ? (
                  <div className="tone-bad">
                    <ErrorText error={problem} />
                  </div>
                ) : isRead ? (
                  <>
                    <strong>All of it was shown</strong>
                    <br />
                    Your passkey signs exactly this
                  </>
                ) : (
                  <>
                    <strong>{Math.floor(seen.share * 100)} %</strong> shown
                    <br />
                    Scroll to the end to sign
                  </>
                )}
              </div>
              {isRead ? (
                <Button key="cancel" onClick={onClose}>
                  Cancel
                </Button>
              ) : (
                <Button key="next" icon="down" shortcut="Space" onClick={next}>
                  Next page
                </Button>
              )}
              <Button
                tone={danger ? 'destroy' : 'primary'}
                icon="fingerprint"
                type="submit"
                form="sign-form"
                disabled={!isRead}
              >
                {problem ? 'Try again' : act}
              </Button>
            </>
          )}
        </>
      }
    >
      <form id="sign-form" onSubmit={(event) => void sign(event)} />
      <p className="sign-line">
        Asked by <strong>{askers}</strong>
        {signer ? (
          <>
            , signed by <strong>{signer}</strong>
          </>
        ) : null}
        . Valid for {valid.toLowerCase()}.
        {request ? (
          <>
            {' '}
            Digest <code>{readableDigest(request.challenge)}</code>
          </>
        ) : null}
      </p>
      <FoldsProvider value={folds.value}>
        <section className="sign-content" ref={content} tabIndex={-1} aria-label="Content">
          {items.map(({ id, version }) => (
            <WholeItem key={id} id={id} version={version} />
          ))}
        </section>
      </FoldsProvider>
      <dl className="sign-facts">
        <Row name="Asked by">{askers}</Row>
        {signer ? <Row name="Signed by">{signer}, with a passkey</Row> : null}
        <Row name="Valid">{valid}</Row>
        {request ? (
          <Row name="Digest">
            <code>{readableDigest(request.challenge)}</code>
          </Row>
        ) : null}
      </dl>
    </Dialog>
  );
}

const Row = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** One decision in full, in the version that is signed and no other. */
function WholeItem({ id, version }: { readonly id: number; readonly version: number }) {
  const { data, error } = useQuery(`/inbox/${id}`);
  // What is signed stays as it was when it was opened; the server refuses what has changed since.
  const [item, setItem] = useState<Item>();
  useEffect(() => {
    if (data?.version === version) setItem((old) => old ?? data);
  }, [data, version]);
  if (!item)
    return (
      <>
        <Unshown />
        {error ? <ErrorNotice error={error} /> : null}
        {data && data.version > version ? (
          <Notice tone="warn">Approval {id} changed. Close this and read it again.</Notice>
        ) : error ? null : (
          <Skeleton />
        )}
      </>
    );
  const { presentation } = item;
  return (
    <article className="sign-item" aria-label={`Approval ${id} in full`}>
      <div className="row item-badges">
        <EnvironmentBadge environment={presentation.target.environment} />
        {item.effect === 'destroy' ? <Badge tone="bad">Destructive</Badge> : null}
        {presentation.money ? <Badge tone="bad">Moves money</Badge> : null}
        {presentation.undo.possible === false ? <Badge tone="bad">No undo</Badge> : null}
      </div>
      <h3 className="sign-title">
        <PlacedTitle title={presentation.title} environment={presentation.target.environment} />
      </h3>
      <RiskNotes risks={presentation.risks} />
      <ItemBody item={item} />
    </article>
  );
}
