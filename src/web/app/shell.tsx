import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { Badge } from './components/badge.tsx';
import { Button } from './components/button.tsx';
import { Notice } from './components/notice.tsx';
import { useFaultToast, useToast } from './components/toast.tsx';
import { post, useQuery } from './lib/api.ts';
import { useLive } from './lib/events.ts';
import { useSession } from './lib/session.ts';
import { useTheme } from './lib/theme.ts';
import { Pointed } from './pointed.tsx';

const SCREENS = [
  { path: '/', label: 'Inbox' },
  { path: '/activity', label: 'Activity' },
  { path: '/agents', label: 'Agents' },
  { path: '/insights', label: 'Insights' },
] as const;
const ROOMS = [
  { path: '/x', label: 'X', toolkit: 'x' },
  { path: '/research', label: 'Research', toolkit: 'research' },
  { path: '/dev', label: 'Dev', toolkit: 'dev' },
  { path: '/assistant', label: 'Assistant', toolkit: 'assistant' },
] as const;

/** So much of the name before stays in sight. */
const EDGE = 48;

/** What stands around every screen: where one can go, how the server stands, who is signed in. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const { session, refresh } = useSession();
  const [theme, nextTheme] = useTheme();
  const live = useLive();
  const say = useToast();
  const sayFault = useFaultToast();
  const waiting = useQuery<{ total: number }>('/inbox/count', { topics: ['approvals'] }).data?.total ?? 0;
  const rooms = ROOMS.filter(({ toolkit }) => session.toolkits.includes(toolkit));

  const signOut = async (): Promise<void> => {
    await post('/sign-out');
    location.assign('/');
  };
  const resume = async (): Promise<void> => {
    await post('/resume');
    await refresh();
    say('Changes are allowed again.', { tone: 'good' });
  };
  const list = useRef<HTMLElement>(null);
  const [place] = useLocation();
  // On a narrow screen the names scroll, and that of the open screen may be out of sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: looks again wherever one goes
  useEffect(() => {
    const nav = list.current;
    const open = nav?.querySelector<HTMLElement>('[aria-current]');
    if (!nav || !open) return;
    const from = open.offsetLeft - nav.offsetLeft;
    const seen = from >= nav.scrollLeft && from + open.offsetWidth <= nav.scrollLeft + nav.clientWidth;
    if (!seen) nav.scrollLeft = from - EDGE;
  }, [place]);

  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="shell-side">
        <Link href="/" className="brand">
          <span className="brand-mark" aria-hidden="true">
            ✓
          </span>
          Countersign
        </Link>
        <nav aria-label="Screens" className="nav" ref={list}>
          {SCREENS.map(({ path, label }) => (
            <NavLink key={path} path={path}>
              {label}
              {path === '/' && waiting > 0 ? (
                <span className="nav-count">
                  {waiting > 9999 ? '9999+' : waiting}
                  <span className="sr-only"> waiting</span>
                </span>
              ) : null}
            </NavLink>
          ))}
          {rooms.length > 0 ? <span className="nav-rule" aria-hidden="true" /> : null}
          {rooms.map(({ path, label }) => (
            <NavLink key={path} path={path}>
              {label}
            </NavLink>
          ))}
        </nav>
        <div className="shell-foot">
          <div className="shell-state">
            <Badge tone={session.mode === 'composer' ? 'info' : 'neutral'} title="Operating mode">
              {session.mode}
            </Badge>
            <span className={live ? 'live live-on' : 'live'}>{live ? 'live' : 'reconnecting…'}</span>
          </div>
          <div className="shell-tools">
            <Link href="/start" className="link-button">
              Guide
            </Link>
            <button type="button" className="link-button" onClick={nextTheme}>
              Theme: {theme}
            </button>
            <button type="button" className="link-button" onClick={() => signOut().catch(sayFault)}>
              Sign out
            </button>
          </div>
          <p className="shell-who">
            {session.person} · {session.version}
          </p>
        </div>
      </header>
      <main id="main" className="main" tabIndex={-1}>
        {session.paused ? (
          <Notice tone="warn">
            <p>
              <strong>Paused.</strong> Every change is refused until you resume.
            </p>
            <Button small onClick={() => resume().catch(sayFault)}>
              Resume
            </Button>
          </Notice>
        ) : null}
        <Pointed />
        {children}
      </main>
    </div>
  );
}

function NavLink({ path, children }: { readonly path: string; readonly children: ReactNode }) {
  const [location] = useLocation();
  const current =
    path === '/' ? location === '/' || location.startsWith('/inbox') : location.startsWith(path);
  return (
    <Link href={path} className="nav-link" aria-current={current ? 'page' : undefined}>
      {children}
    </Link>
  );
}
