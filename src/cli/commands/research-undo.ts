import { type ActOptions, act, look, tellAct } from '../act.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print, printJson, table } from '../output.ts';
import { plainText } from '../plain-text.ts';
import { limitOf } from '../text.ts';

interface Change {
  readonly change_id: number;
  readonly tool: string;
  readonly at: string;
  readonly owner: string;
  readonly approved_by: string | null;
  readonly state: string;
  readonly summary: string;
}

export function listChanges(global: GlobalOptions, options: { limit?: string }): Promise<void> {
  return withApp(global, async (app) => {
    const changes = await look<Change[]>(app, 'research', 'changes', { limit: limitOf(options.limit) ?? 20 });
    if (global.json) return printJson(changes);
    if (changes.length === 0) return print('Nothing was changed through Countersign yet.');
    print(
      table(
        ['CHANGE', 'AT', 'BY', 'APPROVED BY', 'TOOL', 'STATE', 'WHAT'],
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
    print('\nTake one back: countersign research undo CHANGE');
  });
}

/** Takes back the last change, one by number, or what one call did. */
export function undo(
  global: GlobalOptions,
  change: string | undefined,
  options: ActOptions & { call?: string },
): Promise<void> {
  return withApp(global, async (app) => {
    if (change !== undefined && options.call !== undefined)
      throw new CliError('Give the number of a change or --call, not both.', 2);
    if (change !== undefined && !/^[1-9]\d*$/.test(change))
      throw new CliError(
        `"${change}" is not the number of a change; \`countersign research changes\` lists them.`,
        2,
      );
    const args = {
      ...(change === undefined ? {} : { change_id: Number(change) }),
      ...(options.call === undefined ? {} : { call_id: options.call }),
    };
    tellAct<{ undone: Change }>(
      global,
      await act(app, 'undo_change', args, options),
      ({ undone }) =>
        `Undone: change ${undone.change_id} by ${undone.owner} (${undone.tool}: ${undone.summary}).`,
    );
  });
}
