/**
 * Globs over repository paths and branch names: `*` and `?` stay within a segment, `**` crosses them. A pattern without
 * a slash is matched against each segment, one that ends in a slash against that folder and everything below it. Case and
 * Unicode form are ignored, because some file systems ignore them too.
 */
export function matchesGlob(path: string, pattern: string): boolean {
  const folded = fold(path);
  const glob = fold(pattern.replace(/^\/+/, ''));
  if (glob.endsWith('/')) return compile(`${glob}**`).test(`${folded}/`);
  if (!glob.includes('/')) return folded.split('/').some((segment) => compile(glob).test(segment));
  return compile(glob).test(folded);
}

/** For branch names: the pattern covers the whole name, whether or not it has a slash. */
export const matchesWhole = (name: string, pattern: string): boolean =>
  compile(fold(pattern)).test(fold(name));

/** The first pattern that covers the path, for the message. */
export const firstMatch = (path: string, patterns: readonly string[]): string | undefined =>
  patterns.find((pattern) => matchesGlob(path, pattern));

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

const cache = new Map<string, RegExp>();

function compile(glob: string): RegExp {
  let regex = cache.get(glob);
  if (!regex) {
    regex = new RegExp(`^${glob.replace(/\*\*\/|\*\*|\*|\?|[^*?]/g, translate)}$`, 'su');
    cache.set(glob, regex);
  }
  return regex;
}

function translate(token: string): string {
  switch (token) {
    case '**/':
      return '(?:[^/]*/)*';
    case '**':
      return '.*';
    case '*':
      return '[^/]*';
    case '?':
      return '[^/]';
    default:
      return token.replace(/[\\^$.|+()[\]{}/]/, '\\$&');
  }
}
