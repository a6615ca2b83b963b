import { z } from 'zod';
import { requirePerson } from '../lib/person.ts';
import { defineResearchTool } from '../services.ts';

/** After it agents have no project, also where the configuration names one. */
export const closeProject = defineResearchTool({
  name: 'close_project',
  title: 'Close the project',
  summary: 'Closes the open project for every process on this store.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  faults: [],
  input: z.object({}),
  output: z.object({ project_open: z.boolean() }),

  async run(_, { services, principal }) {
    requirePerson(principal, 'close the project');
    await services.projects.close(principal);
    return { project_open: false };
  },
});
