import type { GlobalOptions } from '../../contract/command.ts';
import { print, printJson } from '../../terminal/output.ts';
import { withApp } from '../context.ts';
import { requirePersonHere } from '../person-here.ts';

/** Refuses new changes immediately, in every process that shares the database, until resumed. */
export function setPaused(global: GlobalOptions, paused: boolean): Promise<void> {
  return withApp(global, async (app) => {
    const { kernel, person } = app;
    if (!paused) await requirePersonHere(app);
    const before = await kernel.isPaused();
    await kernel.setPaused(paused, person);
    if (global.json) return printJson({ paused, changed: before !== paused });
    if (paused)
      print(
        before
          ? 'Already paused. No new change can start.'
          : 'Paused. No new change can start until `countersign resume`. Calls that need approval are still queued.',
      );
    else print(before ? 'Resumed. Changes can run again, subject to policy.' : 'Changes were not paused.');
  });
}
