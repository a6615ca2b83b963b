import { LOCAL_AGENT } from '../../contract/principal.ts';
import { VERSION } from '../../lib/version.ts';
import { createServed } from '../../serving.ts';
import { mcpServer } from '../../toolkits/assistant/mcp-server.ts';
import { serveOnStdio } from '../../transports/stdio.ts';
import { type GlobalOptions, withApp } from '../context.ts';
import { print } from '../output.ts';

/** The documented command of the assistant: `order_clawdbot` alone on stdio. The assistant itself keeps every toolkit. */
export async function serveAssistant(global: GlobalOptions): Promise<void> {
  if (global.version) return print(mcpServer.versionLine(VERSION));
  const verbose = global.verbose ?? false;
  await withApp({ ...global, verbose }, async (app) => {
    const served = await createServed(app, {
      toolkits: mcpServer.toolkits,
      profile: app.config.profile,
      discovery: false,
      name: mcpServer.name,
    });
    app.checkpoints.start();
    await serveOnStdio(verbose ? traced(served) : served, LOCAL_AGENT);
  });
}

/** Request and response details on stderr; messages and session keys stay out of the log. */
function traced(served: Awaited<ReturnType<typeof createServed>>): typeof served {
  return {
    ...served,
    async invoke(request) {
      const { args } = request;
      const size =
        args !== null && typeof args === 'object' && 'message' in args ? String(args.message).length : 0;
      served.log.debug('Request', {
        tool: request.bound.tool.name,
        client: request.client,
        message_characters: size,
      });
      const result = await served.invoke(request);
      const { outcome } = result;
      served.log.debug('Response', {
        call: result.callId,
        status: outcome.status,
        ...('fault' in outcome ? { code: outcome.fault.code } : {}),
        elapsed_ms: Math.round(result.elapsedMs),
      });
      return result;
    },
  };
}
