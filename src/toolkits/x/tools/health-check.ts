import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { reasonOf } from '../lib/degraded.ts';
import { defineXTool, type XServices } from '../services.ts';

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
  async run(_args, { services, signal, callId }) {
    const [server, x] = await Promise.all([serverPart(services), xPart(services, { signal, callId })]);
    const { provider, model } = services.settings.llm;
    const llm = provider ? { status: 'ok', provider, model } : { status: 'not_configured' };
    // A model is optional: without one nothing is broken.
    const ok = server.status === 'ok' && x.status === 'ok';
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

async function xPart(services: XServices, options: { signal: AbortSignal; callId: string }): Promise<Part> {
  try {
    const x = await services.x();
    const me = await x.me(options);
    return { status: 'ok', backend: x.provider.backend, username: me.username };
  } catch (error) {
    return { status: 'degraded', error: reasonOf(error) };
  }
}
