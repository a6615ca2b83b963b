import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { lensFor } from '../privacy/lens.ts';
import { defineResearchTool } from '../services.ts';

export const getProjectContext = defineResearchTool({
  name: 'get_project_context',
  title: 'Get the open project',
  summary: 'Get current project state: name, path, sources and cases.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  faults: [],
  input: z.object({}),
  output: z.object({
    project_open: z.boolean(),
    project_name: z.string().optional(),
    project_path: z.string().optional(),
    format_version: z.string().optional(),
    memo: z.string().optional(),
    source_count: z.int().optional(),
    sources: z
      .array(z.object({ id: z.int(), name: z.string(), type: z.string(), status: z.string() }))
      .optional(),
    code_count: z.int().optional(),
    case_count: z.int().optional(),
    cases: z.array(z.object({ id: z.int(), name: z.string(), description: z.string() })).optional(),
    withheld_source_count: z.int().optional().describe('Sources the researcher keeps from agents.'),
    pseudonymised: z.boolean().optional().describe('Names in what you read are pseudonyms.'),
    open_in_qualcoder_by: z.string().optional().describe('While set, changes are refused.'),
  }),

  async run(_, { services, principal }) {
    const project = await services.projects.find();
    if (!project) return { project_open: false };
    const lens = lensFor(principal, project.store, await services.privacy.rules(project.id));
    const { reader } = lens;
    const info = reader.info();
    const sources = reader.sources();
    const cases = reader.cases();
    const coded = reader.sourceCodingCounts();
    const holder = project.store.lockedBy();
    return {
      project_open: true,
      project_name: info.name,
      project_path: info.path,
      format_version: `v${info.version}`,
      memo: lens.mask(info.memo),
      source_count: sources.length,
      sources: sources.map(({ id, name, type }) => ({
        id,
        name: lens.mask(name),
        type,
        status: coded.has(id) ? 'coded' : 'imported',
      })),
      code_count: reader.codes().length,
      case_count: cases.length,
      cases: cases.map(({ id, name, memo }) => ({ id, name: lens.mask(name), description: lens.mask(memo) })),
      ...(lens.withheld ? { withheld_source_count: lens.withheld } : {}),
      ...(lens.masked ? { pseudonymised: true } : {}),
      ...(holder ? { open_in_qualcoder_by: holder.user } : {}),
    };
  },
});
