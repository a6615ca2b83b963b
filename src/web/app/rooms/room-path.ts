import { useLocation } from 'wouter';

/** Where one is inside a room: `/research/source/3` gives `['source', '3']`, and how to go elsewhere in it. */
export function useRoomPath(room: string): [readonly string[], (...parts: (string | number)[]) => void] {
  const [location, go] = useLocation();
  const parts = location
    .slice(room.length + 1)
    .split('/')
    .filter(Boolean)
    .map(decodeURIComponent);
  return [parts, (...to) => go([`/${room}`, ...to.map((part) => encodeURIComponent(part))].join('/'))];
}
