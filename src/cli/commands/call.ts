import { closest } from '../../lib/closest.ts';
import { dialects } from '../../render/dialects/index.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { complain, print } from '../output.ts';
import { parseArgs } from '../text.ts';

interface CallOptions {
  readonly args?: string;
  readonly idempotencyKey?: string;
}

/** Calls one tool as the person at the terminal, through the same pipeline as any agent. */
export function callTool(global: GlobalOptions, name: string, options: CallOptions): Promise<void> {
  return withApp(global, async (app) => {
    const bound = await app.inventory.resolve(name);
    if (!bound) {
      const { catalogue, withheld } = app.inventory;
      if (withheld.has(name))
        throw new CliError(`The configuration takes the tool ${name} away; ${app.config.path} says how.`, 2);
      const names = catalogue.flatMap((entry) => (withheld.has(entry.name) ? [] : [entry.name]));
      const meant = closest(name, names);
      throw new CliError(
        `There is no tool ${name}.${meant ? ` Did you mean ${meant}?` : ''} \`countersign mcp manifest\` lists them.`,
        2,
      );
    }
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
    if (dialects[dialect].isError(outcome)) process.exitCode = 1;
  });
}
