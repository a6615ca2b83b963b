import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { openSession } from '../lib/session.ts';
import { defineResearchTool } from '../services.ts';

const TYPES = ['text', 'audio', 'video', 'image', 'pdf'];

export const listSources = defineResearchTool({
  name: 'list_sources',
  title: 'List sources',
  summary: 'List all sources with metadata.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  faults: ['no_project', 'validation_error'],
  input: z.object({
    source_type: z.string().optional().describe("Filter: 'text', 'audio', 'video', 'image', 'pdf'"),
  }),
  output: z.object({
    count: z.int(),
    sources: z.array(
      z.object({
        id: z.int(),
        name: z.string(),
        type: z.string(),
        status: z.string(),
        file_path: z.string().nullable(),
        memo: z.string(),
        file_size: z.int(),
        origin: z.string().nullable(),
        code_count: z.int(),
        owner: z.string(),
        created_at: z.string(),
      }),
    ),
    withheld_source_count: z.int().optional(),
  }),

  async run({ source_type }, context) {
    const { lens } = await openSession(context);
    if (source_type !== undefined && !TYPES.includes(source_type)) {
      throw new ToolFault(
        'validation_error',
        `There is no source type "${source_type}"; use one of ${TYPES.join(', ')}.`,
      );
    }
    const counts = lens.reader.sourceCodingCounts();
    const sources = lens.reader
      .sources()
      .filter(({ type }) => source_type === undefined || type === source_type);
    return {
      count: sources.length,
      sources: sources.map((source) => ({
        id: source.id,
        name: lens.mask(source.name),
        type: source.type,
        status: counts.has(source.id) ? 'coded' : 'imported',
        file_path: source.mediaPath === null ? null : lens.mask(source.mediaPath),
        memo: lens.mask(source.memo),
        file_size: source.bytes,
        origin: null,
        code_count: counts.get(source.id) ?? 0,
        owner: lens.mask(source.owner),
        created_at: source.date,
      })),
      ...(lens.withheld ? { withheld_source_count: lens.withheld } : {}),
    };
  },
});
