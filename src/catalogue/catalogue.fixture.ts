import { z } from 'zod';
import { CHANGE_PROFILES, READ_PROFILES, type Tool, toolFactory } from '../contract/tool.ts';
import type { Toolkit, ToolkitHost } from '../contract/toolkit.ts';
import type { ToolkitSource } from './inventory.ts';

const define = toolFactory<unknown>();

/** A tool that says its own name. */
export const tool = (name: string, more: Partial<Pick<Tool, 'effect' | 'summary' | 'requires'>> = {}): Tool =>
  define({
    name,
    title: name.replaceAll('_', ' '),
    summary: `Does ${name}.`,
    effect: 'read',
    reach: 'local',
    category: 'fixture',
    profiles: (more.effect ?? 'read') === 'read' ? READ_PROFILES : CHANGE_PROFILES,
    errors: ['unavailable', 'conflict'],
    input: z.object({ text: z.string().optional() }),
    output: z.object({ name: z.string() }),
    run: async () => ({ name }),
    ...more,
  });

export const toolkit = (id: string, tools: readonly Tool[], more: Partial<Toolkit> = {}): Toolkit => ({
  id,
  title: id,
  tools,
  connect: async () => ({ of: id }),
  ...more,
});

export const source = (from: Toolkit, more: Partial<ToolkitSource> = {}): ToolkitSource => ({
  id: from.id,
  ...(from.brings ? { brings: from.brings } : {}),
  load: async () => from,
  ...more,
});

export const noHost = async (): Promise<ToolkitHost> => ({}) as ToolkitHost;
