import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../../contract/toolkit.ts';
import type { ResearchServices } from './services.ts';

const LOOK_MS = 15_000;
/** A source is read in this job and no other process reads it at the same time. */
const LEASE = 'research.read-sources';

export interface Leases {
  acquire(name: string, ttlMs: number): Promise<boolean>;
}

/** Reads the open project's sources for searching by meaning, one at a time, while nothing else is asked. */
export const readSources = (services: ResearchServices, leases: Leases): Job => ({
  name: 'research: read sources',
  async run(signal) {
    let done = '';
    while (!signal.aborted) {
      try {
        done = await readAll(services, leases, done, signal);
      } catch (error) {
        if (signal.aborted) return;
        // A project on a disk that is gone must not end the server; the next look may find it again.
        services.log.debug('sources could not be read for searching by meaning', { error: String(error) });
      }
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  },
});

/** Returns what was read, so that an unchanged project is not looked through again. */
async function readAll(
  services: ResearchServices,
  leases: Leases,
  done: string,
  signal: AbortSignal,
): Promise<string> {
  if (services.config.ai === 'off') return done;
  const project = await services.projects.find();
  if (!project) return done;
  const state = `${project.id} ${project.store.textVersion()}`;
  if (state === done || !(await leases.acquire(LEASE, LOOK_MS * 4))) return done;
  const analysis = await services.analysis.of(project);
  const ids = project.store.sources().flatMap(({ id, hasText }) => (hasText ? [id] : []));
  // Losing the lease only means that two processes read the same source; each result is as good.
  const keep = () => void leases.acquire(LEASE, LOOK_MS * 4).catch(() => false);
  await analysis.prepare(ids, { signal, progress: keep });
  return state;
}
