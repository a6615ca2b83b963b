import type { Principal } from '../../../contract/principal.ts';

/** Each part of the growth engine acts under its own name, so that rules and the log can tell them apart. */
export const SCHEDULER: Principal = { kind: 'system', id: 'scheduler' };
export const DISCOVERY: Principal = { kind: 'system', id: 'discovery' };
export const MENTIONS: Principal = { kind: 'system', id: 'mentions' };
export const TARGETS: Principal = { kind: 'system', id: 'targets' };
export const CONTENT: Principal = { kind: 'system', id: 'content' };
export const THREADS: Principal = { kind: 'system', id: 'threads' };
export const ANALYTICS: Principal = { kind: 'system', id: 'analytics' };

export const LOOPS: readonly Principal[] = [
  SCHEDULER,
  DISCOVERY,
  MENTIONS,
  TARGETS,
  CONTENT,
  THREADS,
  ANALYTICS,
];
