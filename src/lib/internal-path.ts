const ANY_HOST = 'http://internal.invalid';
/** Signing in leads to pages; these answer programs, or would sign in again. */
const NOT_PAGES = /^\/(api|sign-in|mcp|tools|metrics|health)(\/|$)/;

/**
 * The path of a page of this app, or undefined for anything that a browser could take for another site. Read the way a
 * browser reads it, because `//host`, `/\host` and line breaks within are how such checks are fooled.
 */
export function internalPath(text: string): string | undefined {
  if (!text.startsWith('/') || text.length > 500) return undefined;
  try {
    const { origin, pathname, search } = new URL(text, ANY_HOST);
    if (origin !== ANY_HOST || pathname.startsWith('//') || NOT_PAGES.test(pathname)) return undefined;
    return pathname + search;
  } catch {
    return undefined;
  }
}
