import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { toApiError } from './api.ts';
import type { Tone } from './badge.tsx';
import { Icon } from './icon.tsx';
import { onIgnored } from './keys.ts';
import { ErrorText } from './notice.tsx';
import { UntrustedText } from './untrusted-text.tsx';

interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly text: ReactNode;
  readonly action: { readonly label: string; run(): void } | undefined;
  readonly stays: boolean;
  readonly tag: string | undefined;
}

interface SayOptions {
  readonly tone?: Tone;
  readonly action?: { readonly label: string; run(): void };
  /** Until a person dismisses it, for what must not be missed. */
  readonly stays?: boolean;
  /** It replaces the one with the same tag: of one matter only the newest word counts. */
  readonly tag?: string;
}
type Say = (text: ReactNode, options?: SayOptions) => void;

const ToastContext = createContext<Say>(() => {});
const DockContext = createContext<HTMLElement | null>(null);
/** How long a toast is shown. */
export const SHOWN_MS = 8000;
const MOST = 4;
let last = 0;

/** Makes room by dropping what would disappear anyway. */
function withRoom(all: readonly Toast[]): readonly Toast[] {
  const oldest = all.find(({ stays }) => !stays);
  return all.length < MOST || !oldest ? all : all.filter((one) => one !== oldest);
}

/** `const say = useToast(); say('Posted.', { tone: 'good' })`: a short message that disappears automatically. */
export const useToast = (): Say => useContext(ToastContext);

/** Says what went wrong, with what can be done about it. */
export function useErrorToast(): (fault: unknown) => void {
  const say = useToast();
  return useCallback((fault) => say(<ErrorText error={toApiError(fault)} />, { tone: 'bad' }), [say]);
}

/** Puts what is not a toast, and not announced as one, where toasts are: nothing else may cover a decision. */
export function InDock({ children }: { readonly children: ReactNode }) {
  const dock = useContext(DockContext);
  return dock && createPortal(children, dock);
}

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const [dock, setDock] = useState<HTMLElement | null>(null);
  const drop = useCallback((id: number) => setToasts((all) => all.filter((one) => one.id !== id)), []);
  const say = useCallback<Say>(
    (text, { tone = 'neutral', action, stays = false, tag } = {}) => {
      last += 1;
      const id = last;
      setToasts((all) => {
        const others = tag === undefined ? all : all.filter((one) => one.tag !== tag);
        return [...withRoom(others), { id, tone, text, action, stays, tag }];
      });
      if (!stays) setTimeout(() => drop(id), SHOWN_MS);
    },
    [drop],
  );
  useEffect(() => onIgnored((text) => say(text, { tag: 'keys' })), [say]);
  return (
    <ToastContext value={say}>
      <DockContext value={dock}>{children}</DockContext>
      <div className="dock">
        <div className="holds" ref={setDock} />
        <div className="toasts" role="status" aria-live="polite">
          {toasts.map(({ id, tone, text, action }) => (
            <div key={id} className={`toast toast-${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
              <div className="toast-text">
                {typeof text === 'string' ? <UntrustedText text={text} /> : text}
              </div>
              {action ? (
                <button
                  type="button"
                  className="toast-action"
                  onClick={() => {
                    drop(id);
                    action.run();
                  }}
                >
                  {action.label}
                </button>
              ) : null}
              <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => drop(id)}>
                <Icon name="cross" small />
              </button>
            </div>
          ))}
        </div>
      </div>
    </ToastContext>
  );
}
