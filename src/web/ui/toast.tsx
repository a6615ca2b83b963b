import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { toApiError } from './api.ts';
import type { Tone } from './badge.tsx';
import { Icon } from './icon.tsx';
import { ErrorText } from './notice.tsx';
import { UntrustedText } from './untrusted-text.tsx';

interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly text: ReactNode;
  readonly action: { readonly label: string; run(): void } | undefined;
  readonly stays: boolean;
}

interface SayOptions {
  readonly tone?: Tone;
  readonly action?: { readonly label: string; run(): void };
  /** Until a person dismisses it, for what must not be missed. */
  readonly stays?: boolean;
}
type Say = (text: ReactNode, options?: SayOptions) => void;

const ToastContext = createContext<Say>(() => {});
const SHOWN_MS = 8000;
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

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const drop = useCallback((id: number) => setToasts((all) => all.filter((one) => one.id !== id)), []);
  const say = useCallback<Say>(
    (text, { tone = 'neutral', action, stays = false } = {}) => {
      last += 1;
      const id = last;
      setToasts((all) => [...withRoom(all), { id, tone, text, action, stays }]);
      if (!stays) setTimeout(() => drop(id), SHOWN_MS);
    },
    [drop],
  );
  return (
    <ToastContext value={say}>
      {children}
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
    </ToastContext>
  );
}
