import type { MiddlewareHandler } from 'hono';

/** Nothing inline, nothing from elsewhere, no framing: text from outside stays text even if a page had a fault. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CSP,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** On every answer, refusals and data included: whatever a browser is led to open here, it opens it safely. */
export const setSafeHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) context.res.headers.set(name, value);
  // What the API answers is the person's own and is asked anew each time.
  if (context.req.path.startsWith('/api/')) context.res.headers.set('cache-control', 'no-store');
};
