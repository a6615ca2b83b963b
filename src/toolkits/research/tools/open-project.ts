import { z } from 'zod';
import { requirePerson } from '../lib/person.ts';
import { defineResearchTool } from '../services.ts';

/** For `countersign research open` and the web app; which project agents work on is for a person to say. */
export const openProject = defineResearchTool({
  name: 'open_project',
  title: 'Open a project',
  summary: 'Opens a QualCoder project for every process on this store.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  faults: ['no_project', 'validation_error'],
  input: z.object({ path: z.string().describe('The .qda folder.') }),
  output: z.object({ project_name: z.string(), project_path: z.string(), format_version: z.string() }),

  async run({ path }, { services, principal }) {
    requirePerson(principal, 'open a project');
    const { store } = await services.projects.open(path, principal);
    const { name, path: folder, version } = store.info();
    return { project_name: name, project_path: folder, format_version: `v${version}` };
  },

  async reconcile({ path }, { services }) {
    const project = await services.projects.find();
    const info = project?.store.info();
    if (!info || !path.startsWith(info.path)) return { settled: 'not_done' };
    const data = { project_name: info.name, project_path: info.path, format_version: `v${info.version}` };
    return { settled: 'done', data };
  },
});
