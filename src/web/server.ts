import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { ToolFault } from '../contract/faults.ts';
import { PolicyError } from '../kernel/policy/index.ts';
import { addActivityRoutes } from './api/activity.ts';
import { addEventRoutes } from './api/events.ts';
import { addGovernanceRoutes } from './api/governance.ts';
import { hintFor } from './api/hints.ts';
import { addInboxRoutes } from './api/inbox.ts';
import { addInsightRoutes } from './api/insights.ts';
import { addRoomRoutes } from './api/rooms.ts';
import { serveAssets } from './assets.ts';
import { setSafeHeaders } from './headers.ts';
import type { WebPorts } from './ports.ts';
import { handleSignIn, handleSignOut, requirePerson, type WebEnv } from './sign-in.ts';

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Nothing was ever asked of a person here, and no agent ever called: whoever opens this wants the guide. */
async function isUnused({ database: { db } }: WebPorts): Promise<boolean> {
  const asked = await db.selectFrom('approvals').select('id').limit(1).executeTakeFirst();
  if (asked) return false;
  const called = await db
    .selectFrom('calls')
    .select('call_id')
    .where('principal', 'like', 'agent:%')
    .limit(1)
    .executeTakeFirst();
  return called === undefined;
}

/** The person's side of the HTTP server: pages, and the API under /api that only a signed-in person reaches. */
export function createWebApp(ports: WebPorts): Hono {
  const api = new Hono<WebEnv>();
  api.onError((error, context) => {
    if (error instanceof ToolFault) {
      const status = error.code === 'not_found' ? 404 : error.code === 'approval_state' ? 409 : 400;
      return context.json(
        { error: error.message, code: error.code, hint: hintFor(error.code), detail: error.detail ?? null },
        status,
      );
    }
    if (error instanceof PolicyError)
      return context.json({ error: error.message, code: 'validation_error', detail: null }, 400);
    ports.log.error('A request of the web app failed', { path: context.req.path, error });
    return context.json({ error: 'The server failed; details are in its log.', code: 'internal' }, 500);
  });
  api.use(bodyLimit({ maxSize: MAX_BODY_BYTES }));
  api.use(requirePerson(ports.database, ports.now));
  api.get('/session', async (context) => {
    const { person, csrf } = context.get('session');
    const { mode, approvalMode } = ports.modes();
    return context.json({
      person: person.id,
      csrf,
      version: ports.version,
      toolkits: ports.toolkits,
      profile: ports.profile,
      mode,
      approval_mode: approvalMode,
      paused: await ports.kernel.isPaused(),
      unused: await isUnused(ports),
    });
  });
  api.post('/sign-out', (context) => handleSignOut(context, ports.database));
  api.get('/agent-command', (context) => context.json(ports.agentCommand));
  addInboxRoutes(api, ports);
  addActivityRoutes(api, ports);
  addGovernanceRoutes(api, ports);
  addInsightRoutes(api, ports);
  addRoomRoutes(api, ports);
  addEventRoutes(api, ports);

  const app = new Hono();
  app.use(setSafeHeaders);
  app.get('/sign-in', (context) => handleSignIn(context, ports.database, ports.now()));
  app.route('/api', api);
  serveAssets(app, ports.assets);
  return app;
}
