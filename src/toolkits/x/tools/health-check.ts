import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { reasonOf } from '../lib/degraded.ts';
import { defineXTool, reachX, type XServices } from '../services.ts';

const part = z.looseObject({ status: z.string() });

export const healthCheck = defineXTool({
  name: 'health_check',
  title: 'Check health',
  summary: 'Health of the server, its store, the X provider and the language model.',
  effect: 'read',
  reach: 'network',
  category: 'health',
  profiles: READ_PROFILES,
  faults: [],
  input: z.object({}),
  output: z.object({ status: z.enum(['ok', 'degraded']), server: part, x: part, llm: part }),
  async run(_args, context) {
    const { services } = context;
    const [server, x] = await Promise.all([serverPart(services), xPart(context)]);
    const { provider, model } = services.settings.llm;
    const llm = provider ? { status: 'ok', provider, model } : { status: 'not_configured' };
    // A model is optional: without one nothing is broken.
    const ok = server.status === 'ok' && x.status !== 'degraded';
    return { status: ok ? ('ok' as const) : ('degraded' as const), server, x, llm };
  },
});

type Part = z.input<typeof part>;

async function serverPart(services: XServices): Promise<Part> {
  try {
    const checked = await services.kernel.health.check();
    return { status: 'ok', ...checked };
  } catch (error) {
    return { status: 'degraded', error: reasonOf(error) };
  }
}

async function xPart(context: ToolContext<XServices>): Promise<Part> {
  try {
    const x = await reachX(context);
    const { backend } = x.provider;
    // Nobody is signed in there, so that there is no account to ask for; a page read as a test would be noticed at X.
    if (backend === 'scraper') return { status: 'not_checked', backend };
    const me = await x.me({ signal: context.signal, callId: context.callId });
    return { status: 'ok', backend, username: me.username };
  } catch (error) {
    return { status: 'degraded', error: reasonOf(error) };
  }
}
