/** Drawn for this app on a grid of 24; strokes take the colour of the text around them. */
const ICONS = {
  activity: 'M3 12h4l3-8 4 16 3-8h4',
  agent: 'M5 9h14v10H5zM12 9V5M10 5h4M9.5 13v2M14.5 13v2M2.5 13v3M21.5 13v3',
  at: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM16 8v5.5a2.5 2.5 0 0 0 5 0V12a9 9 0 1 0-3.6 7.2',
  bad: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9 9l6 6M15 9l-6 6',
  bell: 'M6 16v-5a6 6 0 1 1 12 0v5l1.5 2h-15zM10 21h4',
  braces:
    'M9 4C6 4 7.5 9 7 10.5 6.5 12 5 12 5 12s1.5 0 2 1.5S6 20 9 20M15 4c3 0 1.5 5 2 6.5S19 12 19 12s-1.5 0-2 1.5 1 6.5-2 6.5',
  branch:
    'M6 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM6 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM18 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM6 8v8M18 8v2a5 5 0 0 1-5 5H9a3 3 0 0 0-3 1',
  chat: 'M4 5h16v11H9l-5 4zM8 9h8M8 12.5h5',
  check: 'M5 12.5l4.5 4.5L19 7',
  checked: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8.5 12l2.5 2.5 4.5-5',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  database:
    'M5 6c0-1.7 3.1-3 7-3s7 1.3 7 3-3.1 3-7 3-7-1.3-7-3zM5 6v12c0 1.7 3.1 3 7 3s7-1.3 7-3V6M5 12c0 1.7 3.1 3 7 3s7-1.3 7-3',
  down: 'M6 9.5l6 6 6-6',
  download: 'M12 4v11M7 10.5l5 5 5-5M4 20h16',
  edit: 'M4 20l1-4.5L16 4.5 19.5 8l-11 11zM13.5 7l3.5 3.5',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  filter: 'M4 7h16M7 12h10M10 17h4',
  fingerprint:
    'M6 15.5c1-3-.5-5.5 1.5-8.5A6 6 0 0 1 18 10c0 3 0 6-1 9.5M9 20c1.5-3 .5-6.5 1-9a2 2 0 0 1 4 0c.2 3-.3 6.5-1.5 10M4 12a8 8 0 0 1 1-5',
  folder: 'M3 6h6l2 2.5h10V19H3z',
  guide: 'M4 5h6a2 2 0 0 1 2 2v13a2 2 0 0 0-2-2H4zM20 5h-6a2 2 0 0 0-2 2v13a2 2 0 0 1 2-2h6z',
  hash: 'M5 9h15M4 15h15M10 4L8 20M16 4l-2 16',
  heart: 'M12 20S4 14.5 4 9a4 4 0 0 1 8-1 4 4 0 0 1 8 1c0 5.5-8 11-8 11z',
  history: 'M4 12a8 8 0 1 0 2.5-5.8M4 4v4.5h4.5M12 8v4.5l3 1.5',
  inbox: 'M4 13l3-8h10l3 8v6H4zM4 13h5l1.5 3h3l1.5-3h5',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5M12 8h.01',
  insights: 'M5 20v-9M11 20V4M17 20v-6M21 20H3',
  issue: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2z',
  key: 'M8.5 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11.5 12.5L20 4M16.5 7.5l3 3',
  left: 'M14.5 6l-6 6 6 6',
  link: 'M9.5 14.5l5-5M11 7l2-2a4 4 0 0 1 6 6l-2 2M13 17l-2 2a4 4 0 0 1-6-6l2-2',
  money: 'M3 6h18v12H3zM3 10h18M7 14.5h3',
  more: 'M5 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM12 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM19 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2z',
  passage: 'M4 20h7M8.5 15l9-9.5 3 3-9 9.5-4 1z',
  pause: 'M8 5v14M16 5v14',
  plus: 'M12 5v14M5 12h14',
  policy: 'M12 4v16M8 20h8M5 7h14M5 7l-2.5 7a2.7 2.7 0 0 0 5 0zM19 7l-2.5 7a2.7 2.7 0 0 0 5 0z',
  quote: 'M9 7H4v6h5zM9 13c0 2-1.5 4-4 4M20 7h-5v6h5zM20 13c0 2-1.5 4-4 4',
  remember: 'M6 4h12v17l-6-4-6 4zM12 8v5M9.5 10.5h5',
  right: 'M9.5 6l6 6-6 6',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5',
  send: 'M21 3L3 10.5l7 3.5 3.5 7zM21 3L10 14',
  server: 'M4 4h16v7H4zM4 13h16v7H4zM7.5 7.5h.01M7.5 16.5h.01',
  sign: 'M4 16c3-9 5-11 6-8s-3 8-1.5 8S12 10 13 11s-.5 4 1 4 2-2 6-3M4 20h16',
  signOut: 'M14 4H5v16h9M10 12h11M17 8l4 4-4 4',
  tag: 'M4 4h8l8.5 8.5-8 8L4 12zM8.5 8.5h.01',
  theme: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 3v18M12 8h7.5M12 12h9M12 16h7.5',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  undo: 'M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-3',
  up: 'M6 14.5l6-6 6 6',
  user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20a7.5 7.5 0 0 1 15 0',
  warn: 'M12 4L2.5 20h19zM12 10v4.5M12 17.2h.01',
  cross: 'M6 6l12 12M18 6L6 18',
} as const;
export type IconName = keyof typeof ICONS;

/** Decoration only: a word next to it, or the label of its button, says the same. */
export const Icon = ({ name, small }: { readonly name: IconName; readonly small?: boolean }) => (
  <svg className={small ? 'icon icon-small' : 'icon'} viewBox="0 0 24 24" aria-hidden="true">
    <path d={ICONS[name]} />
  </svg>
);
