import { migration as kernel } from './001-kernel.ts';
import type { Migration } from './migration.ts';

/** In the order they are applied; only ever append. */
export const migrations: readonly Migration[] = [kernel];
