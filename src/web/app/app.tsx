import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import type { Session } from '../routes/shapes.ts';
import { ApiError, api, onSignedOut, post, setCsrf, toApiError } from '../ui/api.ts';
import { closeEvents, onPlace, onServerEvent, openEvents } from '../ui/events.ts';
import { Crash } from '../ui/notice.tsx';
import { onSignedInElsewhere, rememberWanted } from '../ui/place.ts';
import { SessionContext } from '../ui/session.ts';
import { DecisionsProvider } from './inbox/decisions.tsx';
import { InboxPage } from './inbox/page.tsx';
import { NotFoundPage } from './not-found.tsx';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';
import { pages } from './toolkits.ts';

const ActivityPage = lazy(() => import('./activity/page.tsx'));
const AgentsPage = lazy(() => import('./agents/page.tsx'));
const InsightsPage = lazy(() => import('./insights/page.tsx'));
const PasskeysPage = lazy(() => import('./passkeys/page.tsx'));
const PolicyPage = lazy(() => import('./policy/page.tsx'));
const ServersPage = lazy(() => import('./servers/page.tsx'));
const StartPage = lazy(() => import('./start.tsx'));

type Standing =
  | { kind: 'asking' }
  | { kind: 'out' }
  | { kind: 'offline'; why: string }
  | { kind: 'in'; session: Session };

export function App() {
  const [standing, setStanding] = useState<Standing>({ kind: 'asking' });
  const refresh = useCallback(async () => {
    try {
      const session = await api('/session');
      setCsrf(session.csrf);
      setStanding({ kind: 'in', session });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) setStanding({ kind: 'out' });
      else
        setStanding((old) => (old.kind === 'in' ? old : { kind: 'offline', why: toApiError(error).message }));
    }
  }, []);
  useEffect(() => {
    onSignedOut(() => setStanding({ kind: 'out' }));
    // A page that could not say where it is only looks as if it were elsewhere; the next change says it again.
    onPlace((listener, place) => void post('/presence', { listener, place: place ?? null }).catch(() => {}));
    void refresh();
    const stops = ['reconnected', 'config'].map((topic) => onServerEvent(topic, () => void refresh()));
    stops.push(onSignedInElsewhere(() => void refresh()));
    return () => {
      for (const stop of stops) stop();
    };
  }, [refresh]);

  const signedIn = standing.kind === 'in';
  useEffect(() => {
    if (standing.kind === 'out') rememberWanted();
  }, [standing.kind]);
  useEffect(() => {
    if (!signedIn) return;
    openEvents();
    return closeEvents;
  }, [signedIn]);

  const [location, navigate] = useLocation();
  const [guided, setGuided] = useState(false);
  useEffect(() => {
    if (standing.kind !== 'in' || guided) return;
    // Once, when the page opens: a person who then goes to the inbox finds it there.
    setGuided(true);
    if (standing.session.unused && location === '/') navigate('/start', { replace: true });
  }, [standing, guided, location, navigate]);

  const session = standing.kind === 'in' ? standing.session : undefined;
  const value = useMemo(() => session && { session, refresh }, [session, refresh]);
  if (standing.kind === 'asking') return null;
  if (!value) return <SignIn problem={standing.kind === 'offline' ? standing.why : undefined} />;
  return (
    <SessionContext value={value}>
      <DecisionsProvider>
        <Shell>
          <Crash place={location}>
            <Suspense fallback={<p className="muted pad">Loading…</p>}>
              <Switch>
                <Route path="/activity/:call?" component={ActivityPage} />
                <Route path="/agents/:name?" component={AgentsPage} />
                <Route path="/insights" component={InsightsPage} />
                <Route path="/passkeys" component={PasskeysPage} />
                <Route path="/policy/:part?" component={PolicyPage} />
                <Route path="/servers/:name?" component={ServersPage} />
                <Route path="/start" component={StartPage} />
                {[...pages].map(([id, ToolkitPage]) => (
                  <Route key={id} path={`/${id}/*?`} component={ToolkitPage} />
                ))}
                <Route path="/inbox/:item?" component={InboxPage} />
                <Route path="/" component={InboxPage} />
                <Route component={NotFoundPage} />
              </Switch>
            </Suspense>
          </Crash>
        </Shell>
      </DecisionsProvider>
    </SessionContext>
  );
}
