import type { CallTrace, CommandHost } from '../../../contract/command.ts';
import type { Log } from '../../../contract/ports.ts';
import { VERSION } from '../../../lib/log.ts';
import { print } from '../../../terminal/output.ts';

/** `countersign mcp-server`: the assistant alone on stdio, under the documented name. */
export const mcpServer = {
  name: 'clawdbot-mcp-server',
  /** What `countersign mcp-server --version` prints. */
  versionLine: (version: string): string => `clawdbot-mcp-server ${version}`,
} as const;

/** The documented command of the assistant: `order_clawdbot` alone on stdio. The assistant itself keeps every toolkit. */
export async function serveAssistant({ options, open }: CommandHost): Promise<void> {
  if (options.version) return print(mcpServer.versionLine(VERSION));
  await open((app) =>
    app.serveOnStdio({ name: mcpServer.name, ...(options.verbose ? { trace: traceTo(app.log) } : {}) }),
  );
}

/** Request and response details on stderr; messages and session keys stay out of the log. */
const traceTo = (log: Log): CallTrace => ({
  request({ tool, client, args }) {
    const size =
      args !== null && typeof args === 'object' && 'message' in args ? String(args.message).length : 0;
    log.debug('Request', { tool, client, message_characters: size });
  },
  response({ callId, outcome, elapsedMs }) {
    log.debug('Response', {
      call: callId,
      status: outcome.status,
      ...('fault' in outcome ? { code: outcome.fault.code } : {}),
      elapsed_ms: Math.round(elapsedMs),
    });
  },
});
