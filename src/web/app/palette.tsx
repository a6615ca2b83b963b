import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { post, useQuery } from '../ui/api.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { openScope } from '../ui/keys.ts';
import { useSession } from '../ui/session.ts';
import { useErrorToast } from '../ui/toast.tsx';
import { UntrustedText } from '../ui/untrusted-text.tsx';
import { iconOf } from './toolkits.ts';

const FOUND = 6;
const TYPING_MS = 150;

interface Choice {
  readonly key: string;
  readonly group: 'Pending' | 'Actions' | 'Go to';
  readonly icon: IconName;
  readonly label: string;
  readonly note?: string;
  run(): void;
}

interface Props {
  readonly places: readonly { readonly path: string; readonly label: string; readonly icon: IconName }[];
  onTheme(): void;
  onClose(): void;
}

/** Search or jump to anything: what waits, what can be done, where one can go. */
export function Palette({ places, onTheme, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState<number>();
  const [, navigate] = useLocation();
  const { session, refresh } = useSession();
  const describeError = useErrorToast();
  const [query, setQuery] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setQuery(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const { data } = useQuery(`/inbox?brief=1&limit=${FOUND}${query ? `&q=${encodeURIComponent(query)}` : ''}`);
  useLayoutEffect(() => openScope(), []);
  useEffect(() => {
    const before = document.activeElement;
    const shown = dialog.current;
    if (shown && !shown.open) shown.showModal();
    return () => {
      shown?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);

  const go = (path: string) => (): void => {
    onClose();
    navigate(path);
  };
  const say = (work: Promise<unknown>): void => {
    work.then(refresh).catch(describeError);
    onClose();
  };
  const matches = (label: string): boolean => label.toLowerCase().includes(text.trim().toLowerCase());
  const acts: Choice[] = [
    ...(query
      ? [
          {
            key: 'filter',
            group: 'Actions' as const,
            icon: 'filter' as const,
            label: `Show only what contains “${query}”`,
            run: go(`/?q=${encodeURIComponent(query)}`),
          },
        ]
      : []),
    ...[
      session.paused
        ? { key: 'resume', icon: 'pause' as const, label: 'Resume changes', run: () => say(post('/resume')) }
        : {
            key: 'pause',
            icon: 'pause' as const,
            label: 'Pause all changes',
            run: () => say(post('/pause')),
          },
      {
        key: 'theme',
        icon: 'theme' as const,
        label: 'Change the theme',
        run: () => {
          onTheme();
          onClose();
        },
      },
    ]
      .filter(({ label }) => matches(label))
      .map((choice) => ({ ...choice, group: 'Actions' as const })),
  ];
  const choices: Choice[] = [
    ...(data?.items ?? []).map((row) => ({
      key: `item-${row.id}`,
      group: 'Pending' as const,
      icon: iconOf(row.toolkit) ?? ('server' as const),
      label: row.summary,
      note: row.gist ?? row.requester.replace(/^agent:/u, ''),
      run: go(`/inbox/${row.id}`),
    })),
    ...acts,
    ...places
      .filter(({ label }) => matches(label))
      .map(({ path, label, icon }) => ({ key: path, group: 'Go to' as const, icon, label, run: go(path) })),
  ];
  const chosen = Math.min(at ?? 0, Math.max(0, choices.length - 1));
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((chosen + step + choices.length) % Math.max(1, choices.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const choice = choices[chosen];
      // What was typed before the palette was there is lost: its Enter must not pause or resume anything.
      if (choice?.group !== 'Actions' || text !== '' || at !== undefined) choice?.run();
    }
  };
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Search or jump to"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={onClose}
    >
      <div className="palette-head">
        <Icon name="search" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={listId}
          aria-label="Search or jump to"
          aria-activedescendant={choices[chosen] ? `${listId}-${chosen}` : undefined}
          placeholder="Search or jump to"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd className="key">Esc</kbd>
      </div>
      <div className="palette-list" role="listbox" id={listId} aria-label="Results">
        {choices.map((choice, index) => (
          <div key={choice.key} role="presentation">
            {choices[index - 1]?.group === choice.group ? null : (
              <p className="palette-group" role="presentation">
                {choice.group}
              </p>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the input has the focus and its keys choose */}
            <div
              id={`${listId}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              className="palette-choice"
              onClick={choice.run}
              onPointerMove={() => setAt(index)}
            >
              <Icon name={choice.icon} />
              <span className="clip">
                <UntrustedText text={choice.label} />
              </span>
              {choice.note ? (
                <span className="muted small clip">
                  <UntrustedText text={choice.note} />
                </span>
              ) : null}
            </div>
          </div>
        ))}
        {choices.length === 0 ? <p className="muted pad">Nothing found</p> : null}
      </div>
      <div className="palette-foot" aria-hidden="true">
        <kbd className="key">↑</kbd>
        <kbd className="key">↓</kbd> choose <kbd className="key">↵</kbd> open
      </div>
    </dialog>
  );
}
