import type { GlobalOptions } from '../../contract/command.ts';
import { isChange } from '../../contract/tool.ts';
import { printJson, printStderr, startProgress } from '../../terminal/output.ts';
import { parseArgs } from '../../terminal/text.ts';
import { hintOf } from '../act.ts';
import { withApp } from '../context.ts';
import { requirePersonHere } from '../person-here.ts';
import { requireTool } from '../usage-error.ts';

interface CallOptions {
  readonly args?: string;
  readonly idempotencyKey?: string;
}

/** Calls one tool as the person at the terminal, through the same pipeline as any agent. */
export function callTool(global: GlobalOptions, name: string, options: CallOptions): Promise<void> {
  return withApp(global, async (app) => {
    const bound = await requireTool(app.inventory, name);
    const { effect, category } = bound.tool;
    // Only a person decides, and trusts servers; here the call is a person's.
    if (effect === 'decide' || (category === 'servers' && isChange(effect))) await requirePersonHere(app);
    const cancel = new AbortController();
    process.once('SIGINT', () => cancel.abort(new Error('Cancelled at the terminal.')));
    const progress = startProgress();
    const calling = app.kernel.invoke({
      bound,
      args: options.args === undefined ? {} : parseArgs(options.args),
      principal: app.person,
      transport: 'cli',
      client: 'countersign-cli',
      signal: cancel.signal,
      idempotencyKey: options.idempotencyKey,
      onProgress: ({ message, done, total }) => progress.show(message, done, total),
    });
    const result = await calling.finally(progress.end);
    const { dialect } = bound.toolkit;
    printJson(dialect.body({ tool: bound.tool, dialect, ...result }, app.policy.modes));
    const { outcome } = result;
    if (outcome.status === 'routed')
      printStderr(
        `Approval required: countersign approvals approve ${outcome.approvalId}${(await app.kernel.isPaused()) ? '\nChanges are paused; it can run after `countersign resume`.' : ''}`,
      );
    if (dialect.omitsHints && 'fault' in outcome) for (const hint of hintOf(outcome.fault)) printStderr(hint);
    if (dialect.isError(outcome)) process.exitCode = 1;
  });
}
