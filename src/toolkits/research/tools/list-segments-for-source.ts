import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { openSession } from '../lib/session.ts';
import { segmentShape, showSegment } from '../lib/shapes.ts';
import { defineResearchTool } from '../services.ts';

export const listSegmentsForSource = defineResearchTool({
  name: 'list_segments_for_source',
  title: 'List coded segments of a source',
  summary: 'Get coded text segments for a source, with who made each.',
  effect: 'read',
  reach: 'local',
  category: 'coding',
  profiles: READ_PROFILES,
  faults: ['no_project', 'source_not_found'],
  input: z.object({ source_id: id() }),
  output: z.array(segmentShape),

  async run({ source_id }, context) {
    const { project, lens } = await openSession(context);
    lens.source(source_id);
    const codings = lens.reader.codings({ sourceId: source_id });
    const names = new Map(lens.reader.codes().map((code) => [code.id, code.name]));
    const makers = await project.store.journal.makers('code_text', codings);
    return codings.map((coding) =>
      showSegment(lens, coding, names.get(coding.codeId) ?? '', makers.get(coding.id)),
    );
  },
});
