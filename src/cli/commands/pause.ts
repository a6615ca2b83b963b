import { type GlobalOptions, withApp } from '../context.ts';
import { print } from '../output.ts';

/** Stops every change at once, for every process on this store, until resumed. */
export function setPaused(global: GlobalOptions, paused: boolean): Promise<void> {
  return withApp(global, async ({ kernel, person }) => {
    const before = await kernel.isPaused();
    await kernel.setPaused(paused, person);
    if (paused)
      print(
        before
          ? 'Already paused: no change is made.'
          : 'Paused: no change is made until `countersign resume`. What asks for a person still queues.',
      );
    else print(before ? 'Resumed: changes are judged by policy again.' : 'Nothing was paused.');
  });
}
