import { migration as kernel } from './001-kernel.ts';
import { migration as xClient } from './010-x-client.ts';
import { migration as xGrowth } from './011-x-growth.ts';
import { migration as dev } from './020-dev.ts';
import { migration as research } from './030-research.ts';
import { migration as assistant } from './040-assistant.ts';
import { migration as inbox } from './050-inbox.ts';
import type { Migration } from './migration.ts';

/** In the order they are applied; only ever append. */
export const migrations: readonly Migration[] = [kernel, xClient, xGrowth, dev, research, assistant, inbox];
