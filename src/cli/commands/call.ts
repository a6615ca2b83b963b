import { dialects } from '../../render/dialects/index.ts';
import { type GlobalOptions, withApp } from '../context.ts';
import { hintOf } from '../hint.ts';
import { mustBeTool } from '../names.ts';
import { complain, print } from '../output.ts';
import { parseArgs } from '../text.ts';

interface CallOptions {
  readonly args?: string;
  readonly idempotencyKey?: string;
}

/** Calls one tool as the person at the terminal, through the same pipeline as any agent. */
export function callTool(global: GlobalOptions, name: string, options: CallOptions): Promise<void> {
  return withApp(global, async (app) => {
    const bound = await mustBeTool(app.inventory, name);
    const cancel = new AbortController();
    process.once('SIGINT', () => cancel.abort());
    const result = await app.kernel.invoke({
      bound,
      args: options.args === undefined ? {} : parseArgs(options.args),
      principal: app.person,
      transport: 'cli',
      client: 'countersign-cli',
      signal: cancel.signal,
      idempotencyKey: options.idempotencyKey,
      onProgress: ({ message, done, total }) => complain(total ? `${message} (${done}/${total})` : message),
    });
    const { dialect } = bound.toolkit;
    print(
      JSON.stringify(
        dialects[dialect].body({ tool: bound.tool, dialect, ...result }, app.policy.modes),
        null,
        2,
      ),
    );
    const { outcome } = result;
    if (outcome.status === 'routed')
      complain(
        `It waits for approval: countersign approvals approve ${outcome.approvalId}${(await app.kernel.isPaused()) ? '\nChanges are paused; it can run after `countersign resume`.' : ''}`,
      );
    if (dialect === 'tuitbot' && 'fault' in outcome) for (const hint of hintOf(outcome.fault)) complain(hint);
    if (dialects[dialect].isError(outcome)) process.exitCode = 1;
  });
}
