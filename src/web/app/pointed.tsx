import { useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from './components/button.tsx';
import { Notice } from './components/notice.tsx';
import { useServerEvent } from './lib/events.ts';

/** An agent points at a passage while another room is open: offered, because whoever reads here is not torn away. */
export function Pointed() {
  const [location, navigate] = useLocation();
  const [place, setPlace] = useState<string>();
  // The research room goes there by itself.
  const isThere = location.startsWith('/research');
  useServerEvent('research.navigate', ({ source_id, start_pos, end_pos, highlight }) => {
    const end = highlight === false ? '' : `/${Number(end_pos)}`;
    setPlace(isThere ? undefined : `/research/read/${Number(source_id)}/${Number(start_pos)}${end}`);
  });
  if (place === undefined || isThere) return null;
  const close = (): void => setPlace(undefined);
  return (
    <div role="status">
      <Notice>
        <p>An agent points at a passage of the research project.</p>
        <div className="row">
          <Button
            small
            tone="primary"
            onClick={() => {
              close();
              navigate(place);
            }}
          >
            Show
          </Button>
          <Button small onClick={close}>
            Not now
          </Button>
        </div>
      </Notice>
    </div>
  );
}
