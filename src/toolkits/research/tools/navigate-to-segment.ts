import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { openSession } from '../lib/session.ts';
import { checkRange } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';

export const navigateToSegment = defineResearchTool({
  name: 'navigate_to_segment',
  title: 'Show a passage to the researcher',
  summary: 'Navigate UI to a specific position. Says whether a page was open to show it.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  faults: ['no_project', 'source_not_found', 'invalid_position'],
  input: z.object({
    source_id: id(),
    start_pos: z.int(),
    end_pos: z.int(),
    highlight: z.boolean().default(true),
  }),
  output: z.object({
    navigated_to: z.object({
      source_id: z.int(),
      start_pos: z.int(),
      end_pos: z.int(),
      highlight: z.boolean(),
    }),
    shown: z.boolean(),
    message: z.string(),
  }),

  async run({ source_id, start_pos, end_pos, highlight }, context) {
    const { project, lens } = await openSession(context);
    checkRange(lens.text(source_id), source_id, start_pos, end_pos);
    const place = { source_id, start_pos, end_pos, highlight };
    const { listeners, watching } = await context.services.events.publish(
      'research.navigate',
      { ...place, project: project.id },
      `research:${project.id}`,
    );
    return {
      navigated_to: place,
      shown: watching > 0,
      message:
        watching > 0
          ? 'The open page shows the passage.'
          : listeners > 0
            ? 'A page is open elsewhere in the web app; it offers the researcher to go to the passage.'
            : 'No page is open; the researcher can open one with `countersign open`.',
    };
  },
});
