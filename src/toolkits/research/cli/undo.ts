import { type ActOptions, CliError, type CommandHost } from '../../../contract/command.ts';
import { print, printJson, table } from '../../../terminal/output.ts';
import { limitOf, plainText } from '../../../terminal/text.ts';
import { undoChange } from '../tools/undo.ts';
import { views } from '../views.ts';

export function listChanges(host: CommandHost, options: { limit?: string }): Promise<void> {
  return host.open(async (app) => {
    const changes = await app.view(views, 'changes', {
      limit: limitOf(options.limit) ?? 20,
    });
    if (host.options.json) return printJson(changes);
    if (changes.length === 0) return print('No changes yet. Changes made through Countersign appear here.');
    print(
      table(
        ['CHANGE', 'AT', 'BY', 'APPROVED BY', 'TOOL', 'STATE', 'SUMMARY'],
        changes.map((one) => [
          String(one.change_id),
          one.at.slice(0, 16).replace('T', ' '),
          plainText(one.owner),
          one.approved_by ?? '',
          one.tool,
          one.state,
          one.summary,
        ]),
        100,
      ),
    );
    print('\nUndo one: countersign research undo CHANGE');
  });
}

/** Undoes the last change, one by number, or what one call did. */
export function undo(
  host: CommandHost,
  change: string | undefined,
  options: ActOptions & { call?: string },
): Promise<void> {
  return host.open(async (app) => {
    if (change !== undefined && options.call !== undefined)
      throw new CliError('Specify a change number or --call, not both.', 2);
    if (change !== undefined && !/^[1-9]\d*$/.test(change))
      throw new CliError(
        `Invalid change number "${change}". Run \`countersign research changes\` to list changes.`,
        2,
      );
    const args = {
      ...(change === undefined ? {} : { change_id: Number(change) }),
      ...(options.call === undefined ? {} : { call_id: options.call }),
    };
    app.printOutcome(
      await app.act(undoChange, args, options),
      ({ undone }) =>
        `Undid change ${undone.change_id} by ${undone.owner} (${undone.tool}: ${undone.summary}).`,
    );
  });
}
