import type { Job } from '../../../contract/toolkit.ts';
import type { XServices } from '../services.ts';
import { contentLoop, threadLoop } from './content-loop.ts';
import { discoveryLoop, targetLoop } from './discovery-loops.ts';
import { createEngine } from './engine.ts';
import { runLoop } from './loop.ts';
import { runScheduler } from './scheduler.ts';
import { analyticsLoop, mentionsLoop } from './small-loops.ts';

/** The long-running work of `countersign up`. Each loop decides by the mode in force whether it acts. */
export function growthJobs(services: XServices, holder: string): readonly Job[] {
  const engine = createEngine(services, holder);
  const loops = [discoveryLoop, mentionsLoop, targetLoop, contentLoop, threadLoop, analyticsLoop].map(
    (make) => make(engine),
  );
  return [
    { name: 'x:scheduler', run: (signal) => runScheduler(engine, signal) },
    ...loops.map((loop) => ({
      name: `x:${loop.name}`,
      run: (signal: AbortSignal) => runLoop(loop, engine, signal),
    })),
  ];
}
