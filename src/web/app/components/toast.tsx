import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { toApiError } from '../lib/api.ts';
import type { Tone } from './badge.tsx';
import { FaultText } from './fault-text.tsx';
import { Foreign } from './foreign.tsx';

interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly text: ReactNode;
  readonly action: { readonly label: string; run(): void } | undefined;
}

type Say = (text: ReactNode, options?: { tone?: Tone; action?: { label: string; run(): void } }) => void;

const ToastContext = createContext<Say>(() => {});
const SHOWN_MS = 8000;
let last = 0;

/** `const say = useToast(); say('Posted.', { tone: 'good' })`: a short message that goes away by itself. */
export const useToast = (): Say => useContext(ToastContext);

/** Says what went wrong, with what can be done about it. */
export function useFaultToast(): (fault: unknown) => void {
  const say = useToast();
  return useCallback((fault) => say(<FaultText error={toApiError(fault)} />, { tone: 'bad' }), [say]);
}

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const drop = useCallback((id: number) => setToasts((all) => all.filter((one) => one.id !== id)), []);
  const say = useCallback<Say>(
    (text, { tone = 'neutral', action } = {}) => {
      last += 1;
      const id = last;
      setToasts((all) => [...all.slice(-3), { id, tone, text, action }]);
      setTimeout(() => drop(id), SHOWN_MS);
    },
    [drop],
  );
  return (
    <ToastContext value={say}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map(({ id, tone, text, action }) => (
          <div key={id} className={`toast toast-${tone}`}>
            <div className="toast-text">{typeof text === 'string' ? <Foreign text={text} /> : text}</div>
            {action ? (
              <button
                type="button"
                className="link-button"
                onClick={() => {
                  drop(id);
                  action.run();
                }}
              >
                {action.label}
              </button>
            ) : null}
            <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => drop(id)}>
              ×
            </button>
          </div>
        ))}
      </div>
    </ToastContext>
  );
}
