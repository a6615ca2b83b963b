import { useState } from 'react';
import { useLocation } from 'wouter';
import { useServerEvent } from '../../../web/ui/events.ts';
import { Button } from '../../../web/ui/field.tsx';
import { Notice } from '../../../web/ui/notice.tsx';

/** An agent points at a passage while another page is open: offered, so a person reading here is not interrupted. */
export default function NavigationPrompt() {
  const [location, navigate] = useLocation();
  const [place, setPlace] = useState<string>();
  // The research page goes there automatically.
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
        <p>An agent is pointing to a passage in the research project.</p>
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
      </Notice>
    </div>
  );
}
