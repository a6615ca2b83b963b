import { z } from 'zod';
import { requirePerson } from '../lib/person.ts';
import { defineResearchTool } from '../services.ts';

/** For `countersign research create` and the web app. */
export const createProject = defineResearchTool({
  name: 'create_project',
  title: 'Create a project',
  summary: 'Creates an empty project that QualCoder opens (format v14), and opens it.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  faults: ['conflict', 'not_allowed'],
  input: z.object({
    path: z.string().describe('Where; .qda is added when it is missing.'),
    memo: z.string().optional(),
    coder: z.string().optional().describe('Coder name set in the project.'),
  }),
  output: z.object({ project_name: z.string(), project_path: z.string(), format_version: z.string() }),

  async run({ path, memo, coder }, { services, principal }) {
    requirePerson(principal, 'create a project');
    const { store } = await services.projects.create(path, principal, {
      memo,
      coder: coder ?? services.config.coder,
    });
    const { name, path: folder, version } = store.info();
    return { project_name: name, project_path: folder, format_version: `v${version}` };
  },
});
