import { createContext, useContext } from 'react';

/** Who is signed in and how the server stands, as `/api/session` says it. */
export interface Session {
  readonly person: string;
  readonly csrf: string;
  readonly version: string;
  readonly toolkits: readonly string[];
  readonly profile: string;
  readonly mode: 'autopilot' | 'composer';
  readonly approval_mode: boolean;
  readonly paused: boolean;
  /** Nobody ever used this store. */
  readonly unused: boolean;
}

export interface SessionValue {
  readonly session: Session;
  refresh(): Promise<void>;
}

export const SessionContext = createContext<SessionValue | undefined>(undefined);

export function useSession(): SessionValue {
  const value = useContext(SessionContext);
  if (!value) throw new Error('useSession is used outside of a signed-in page.');
  return value;
}
