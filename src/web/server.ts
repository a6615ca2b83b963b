import { createReadStream, existsSync, statSync } from 'node:fs';
import { extname, join, normalize, sep } from 'node:path';
import { Readable } from 'node:stream';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { ToolError } from '../contract/errors.ts';
import { PolicyError } from '../kernel/policy/index.ts';
import { isUnused } from '../kernel/views/calls.ts';
import { lookup } from '../lib/lookup.ts';
import { addActivityRoutes } from './api/activity.ts';
import { answer } from './api/answer.ts';
import { addApproveRoutes } from './api/approve.ts';
import { addEventRoutes } from './api/events.ts';
import { addGovernanceRoutes } from './api/governance.ts';
import { hintFor } from './api/hints.ts';
import { addInboxRoutes } from './api/inbox.ts';
import { addInsightRoutes } from './api/insights.ts';
import { addNoticeRoutes } from './api/notices.ts';
import { addPageRoutes } from './api/pages.ts';
import { addPasskeyRoutes } from './api/passkeys.ts';
import { addPolicyRoutes, policyIssues } from './api/policy.ts';
import { addStandingRoutes } from './api/standing.ts';
import type { WebPorts } from './ports.ts';
import {
  handleSignIn,
  handleSignOut,
  requirePerson,
  requireScraper,
  SESSION_PATH,
  type WebEnv,
  withoutPlace,
} from './sign-in.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
};

/** The built pages. Every path that is not a file is the application itself, which has its own routes. */
function serveAssets(app: Hono, folder: string | undefined): void {
  app.get('*', (context) => {
    if (!folder || !existsSync(join(folder, 'index.html'))) {
      return context.text('This build has no web app. Run `npm run build`.', 404);
    }
    const path = new URL(context.req.url).pathname;
    const wanted = fileAt(folder, path);
    // A page of an earlier build asks for a part that is gone: it must not get a page for a script.
    if (!wanted && path.startsWith('/assets/')) return context.text('File not found.', 404);
    const file = wanted ?? join(folder, 'index.html');
    const hashed = wanted !== undefined && path.startsWith('/assets/');
    const headers = {
      'content-type': lookup(TYPES, extname(file)) ?? 'application/octet-stream',
      'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    };
    return new Response(Readable.toWeb(createReadStream(file)) as ReadableStream, { headers });
  });
}

/** The file of that address inside the folder; undefined when there is none, or the address is no text at all. */
function fileAt(folder: string, path: string): string | undefined {
  try {
    const wanted = normalize(join(folder, decodeURIComponent(path)));
    return wanted.startsWith(folder + sep) && existsSync(wanted) && statSync(wanted).isFile()
      ? wanted
      : undefined;
  } catch {
    return undefined;
  }
}

/** Nothing inline, nothing from elsewhere, no framing: text from outside stays text even if a page had a fault. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CSP,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** On every answer, refusals and data included: anything a browser is led to open here, it opens it safely. */
const setSafeHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) context.res.headers.set(name, value);
  // What the API answers is the person's own and is requested again each time.
  if (context.req.path.startsWith('/api/')) context.res.headers.set('cache-control', 'no-store');
};

const MB = 1024 * 1024;
const MAX_BODY_BYTES = 8 * MB;

/** The person's side of the HTTP server: pages, and the API under /api that only a signed-in person reaches. */
export function createWebApp(ports: WebPorts): Hono {
  const api = new Hono<WebEnv>();
  api.onError((error, context) => {
    if (error instanceof ToolError) {
      const status =
        error.code === 'not_found'
          ? 404
          : error.code === 'approval_state'
            ? 409
            : error.code === 'signature_required'
              ? 428
              : 400;
      return context.json(
        {
          error: error.message,
          code: error.code,
          hint: error.ownHint ?? hintFor(error.code),
          detail: error.detail ?? null,
        },
        status,
      );
    }
    if (error instanceof PolicyError) {
      const issues = policyIssues(error);
      return context.json({ error: error.message, code: 'validation_error', detail: { issues } }, 400);
    }
    ports.log.error('A request of the web app failed', {
      path: withoutPlace(context.req.path),
      error,
    });
    return context.json({ error: 'Internal error. Details are in the server log.', code: 'internal' }, 500);
  });
  // Only a signed-in person's body is read.
  api.use(requirePerson(ports.database, ports.now));
  api.use(
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: (context) =>
        context.json(
          { error: `The request is larger than ${MAX_BODY_BYTES / MB} MB.`, code: 'invalid_input' },
          413,
        ),
    }),
  );
  answer(api, 'GET /session', async (context) => {
    const { person, csrf } = context.get('session');
    const { mode, approvalMode } = ports.modes();
    return {
      person: person.id,
      csrf,
      version: ports.version,
      toolkits: ports.toolkits,
      profile: ports.profile,
      mode,
      approval_mode: approvalMode,
      hold_seconds: ports.holds.seconds,
      paused: await ports.kernel.isPaused(),
      unused: await isUnused(ports.database),
    };
  });
  answer(api, 'POST /sign-out', (context) => handleSignOut(context, ports.database));
  answer(api, 'GET /snippets', () => ports.snippets());
  addInboxRoutes(api, ports);
  addApproveRoutes(api, ports);
  addStandingRoutes(api, ports);
  addActivityRoutes(api, ports);
  addGovernanceRoutes(api, ports);
  addPolicyRoutes(api, ports);
  addInsightRoutes(api, ports);
  addNoticeRoutes(api, ports);
  addPageRoutes(api, ports);
  addEventRoutes(api, ports);
  addPasskeyRoutes(api, ports);
  const showMetrics = async (context: Context): Promise<Response> =>
    context.body(await ports.metrics(), 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'cache-control': 'no-store',
    });
  // A browser sends its session to the path of the session only.
  api.get('/metrics', showMetrics);

  const app = new Hono();
  app.use(setSafeHeaders);
  app.get('/sign-in', (context) => handleSignIn(context, ports.database, ports.now()));
  app.get('/metrics', requireScraper(ports), showMetrics);
  app.route(`${SESSION_PATH}/:place`, api);
  // Browsers send no cookie to this path, so every request is answered as if signed out.
  app.route('/api', api);
  serveAssets(app, ports.assets);
  return app;
}
