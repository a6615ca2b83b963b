import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { post, useQuery } from '../ui/api.ts';
import { useLive } from '../ui/events.ts';
import { Button } from '../ui/field.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { useKeys, useOpen } from '../ui/keys.ts';
import { Notice } from '../ui/notice.tsx';
import { lazyPart } from '../ui/part.ts';
import { useSession, useTheme } from '../ui/session.ts';
import { setWaiting } from '../ui/title.ts';
import { useErrorToast, useToast } from '../ui/toast.tsx';
import { NotifyToggle } from './notifications.tsx';
import { iconOf, notices, pages } from './toolkits.ts';

interface Screen {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  readonly needs?: string;
}

const SCREENS: readonly Screen[] = [
  { path: '/', label: 'Inbox', icon: 'inbox' },
  { path: '/activity', label: 'Activity', icon: 'activity' },
  { path: '/agents', label: 'Agents', icon: 'agent' },
  { path: '/servers', label: 'Servers', icon: 'server', needs: 'gateway' },
  { path: '/policy', label: 'Policy', icon: 'policy' },
  { path: '/insights', label: 'Insights', icon: 'insights' },
  { path: '/passkeys', label: 'Passkeys', icon: 'key' },
];
const TABS = ['/', '/activity', '/agents', '/policy'];
const Palette = lazyPart(async () => (await import('./palette.tsx')).Palette);

/** What stands around every screen: where one can go, how the server stands, who is signed in. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const { session, refresh } = useSession();
  const [theme, nextTheme] = useTheme();
  const live = useLive();
  const say = useToast();
  const describeError = useErrorToast();
  const waiting = useQuery('/inbox/count', { topics: ['approvals'] }).data?.total ?? 0;
  const screens = SCREENS.filter(
    ({ needs }) => needs === undefined || session.toolkits.some(({ id }) => id === needs),
  );
  const kits = session.toolkits.filter(({ id }) => pages.has(id));
  const kitScreens = kits.map(
    ({ id, title }): Screen => ({ path: `/${id}`, label: title, icon: iconOf(id) ?? 'braces' }),
  );
  const all = [...screens, ...kitScreens];
  const [more, setMore] = useState(false);
  const [jumping, jump, land] = useOpen<true>();
  const [place] = useLocation();
  useKeys({ act: { 'Mod+k': () => jump(true) } });
  useEffect(() => setWaiting(waiting), [waiting]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another place closes the menu
  useEffect(() => setMore(false), [place]);

  const signOut = async (): Promise<void> => {
    await post('/sign-out');
    location.assign('/');
  };
  const resume = async (): Promise<void> => {
    await post('/resume');
    await refresh();
    say('Resumed. Changes can run again, subject to policy.', { tone: 'good' });
  };
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className={more ? 'shell-side shell-side-open' : 'shell-side'}>
        <Link href="/" className="brand">
          <BrandMark />
          Countersign
        </Link>
        <button type="button" className="jump" onClick={() => jump(true)}>
          <Icon name="search" small />
          Search or jump to
          <kbd className="key">Ctrl K</kbd>
        </button>
        <nav aria-label="Pages" className="nav">
          {screens.map((screen) => (
            <NavLink key={screen.path} {...screen} count={screen.path === '/' ? waiting : 0} />
          ))}
          {kits.length > 0 ? <span className="nav-head">Toolkits</span> : null}
          {kitScreens.map((screen) => (
            <NavLink key={screen.path} {...screen} count={0} />
          ))}
        </nav>
        <div className="shell-foot">
          <div className="shell-tools">
            <Link href="/start" className="shell-tool">
              <Icon name="guide" small />
              Guide
            </Link>
            <button type="button" className="shell-tool" onClick={nextTheme}>
              <Icon name="theme" small />
              Theme: {theme}
            </button>
            <NotifyToggle />
            <button type="button" className="shell-tool" onClick={() => signOut().catch(describeError)}>
              <Icon name="signOut" small />
              Sign out
            </button>
          </div>
          <span className={live ? 'live live-on' : 'live'}>{live ? 'Connected' : 'Reconnecting…'}</span>
          <span title="Operating mode">Mode: {session.mode}</span>
          <p className="shell-who">
            {session.person} · {session.version}
          </p>
        </div>
      </header>
      <main id="main" className="main" tabIndex={-1}>
        {session.paused ? (
          <Notice tone="warn">
            <p>
              <strong>Paused.</strong> New changes are refused until you resume.
            </p>
            <Button small onClick={() => resume().catch(describeError)}>
              Resume
            </Button>
          </Notice>
        ) : null}
        {jumping ? (
          <Suspense>
            <Palette places={all} onTheme={nextTheme} onClose={land} />
          </Suspense>
        ) : null}
        <Suspense>
          {session.toolkits.map(({ id }) => {
            const ToolkitNotice = notices.get(id);
            return ToolkitNotice ? <ToolkitNotice key={id} /> : null;
          })}
        </Suspense>
        {children}
      </main>
      <nav aria-label="Tabs" className="tab-bar">
        {screens
          .filter(({ path }) => TABS.includes(path))
          .map((screen) => (
            <NavLink key={screen.path} {...screen} count={screen.path === '/' ? waiting : 0} tab />
          ))}
        <button
          type="button"
          className="tab-link"
          aria-expanded={more}
          onClick={() => setMore((open) => !open)}
        >
          <Icon name="more" />
          More
        </button>
      </nav>
    </div>
  );
}

export const BrandMark = () => (
  <span className="brand-mark" aria-hidden="true">
    <Icon name="sign" />
  </span>
);

interface NavLinkProps extends Screen {
  readonly count: number;
  readonly tab?: boolean;
}

function NavLink({ path, label, icon, count, tab }: NavLinkProps) {
  const [location] = useLocation();
  const current =
    path === '/'
      ? location === '/' || location.startsWith('/inbox')
      : location === path || location.startsWith(`${path}/`);
  return (
    <Link href={path} className={tab ? 'tab-link' : 'nav-link'} aria-current={current ? 'page' : undefined}>
      <Icon name={icon} />
      {label}
      {count > 0 ? (
        <span className="nav-count">
          {count > 9999 ? '9999+' : count}
          <span className="sr-only"> waiting</span>
        </span>
      ) : null}
    </Link>
  );
}
