import { z } from 'zod';
import { principalName } from '../../../contract/principal.ts';
import { id } from '../lib/ids.ts';
import { requirePerson } from '../lib/person.ts';
import { noSource } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';

/** For the web app and the command line; an agent cannot lift what keeps it out. */
export const setSourceAccess = defineResearchTool({
  name: 'set_source_access',
  title: 'Keep a source from agents',
  summary: 'Marks a source as off limits to agents, or opens it again. Holds from the next call on.',
  effect: 'change',
  reach: 'local',
  category: 'privacy',
  profiles: [],
  faults: ['no_project', 'source_not_found'],
  input: z.object({ source_id: id(), off_limits: z.boolean() }),
  output: z.object({ source_id: z.int(), off_limits: z.boolean() }),

  async run({ source_id, off_limits }, { services, principal }) {
    requirePerson(principal, 'say what agents may read');
    const project = await services.projects.current();
    if (!project.store.source(source_id)) throw noSource(source_id);
    await services.privacy.setOffLimits(project.id, source_id, off_limits, principalName(principal));
    return { source_id, off_limits };
  },

  async reconcile({ source_id, off_limits }, { services }) {
    const project = await services.projects.current();
    const { offLimits } = await services.privacy.rules(project.id);
    return offLimits.has(source_id) === off_limits
      ? { settled: 'done', data: { source_id, off_limits } }
      : { settled: 'not_done' };
  },
});
