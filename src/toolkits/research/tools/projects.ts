import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { type Principal, principalName } from '../../../contract/principal.ts';
import { READ_PROFILES } from '../../../contract/tool.ts';
import { nameFinder, partsOf } from '../privacy/name-forms.ts';
import { privacyViewFor } from '../privacy/privacy-view.ts';
import { type Pseudonym, Pseudonymiser } from '../privacy/pseudonyms.ts';
import { noSource } from '../project/checks.ts';
import type { ProjectReader } from '../project/types.ts';
import { defineResearchTool } from '../services.ts';
import { id } from './shapes.ts';

/** Opening, hiding and undoing belong to the researcher, no matter what policy allows agents. */
export function requirePerson(principal: Principal, what: string): void {
  if (principal.kind === 'person') return;
  throw new ToolError('policy_denied_hard_rule', `Policy denied: only a person may ${what}.`);
}

/** For `countersign research create` and the web app. */
export const createProject = defineResearchTool({
  name: 'create_project',
  title: 'Create a project',
  summary: 'Creates an empty project that QualCoder opens (format v14), and opens it.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  errors: ['conflict', 'not_allowed'],
  input: z.object({
    path: z.string().describe('Path; .qda is added if missing.'),
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

/** For `countersign research open` and the web app; which project agents work on is for a person to say. */
export const openProject = defineResearchTool({
  name: 'open_project',
  title: 'Open a project',
  summary: 'Opens a QualCoder project for every process on this database.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  errors: ['no_project', 'validation_error'],
  input: z.object({ path: z.string().describe('The .qda directory.') }),
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

/** After it agents have no project, also where the configuration names one. */
export const closeProject = defineResearchTool({
  name: 'close_project',
  title: 'Close the project',
  summary: 'Closes the open project for every process on this database.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  errors: [],
  input: z.object({}),
  output: z.object({ project_open: z.boolean() }),

  async run(_, { services, principal }) {
    requirePerson(principal, 'close the project');
    await services.projects.close(principal);
    return { project_open: false };
  },
});

export const getProjectContext = defineResearchTool({
  name: 'get_project_context',
  title: 'Get the open project',
  summary: 'Get current project state: name, path, sources and cases.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  errors: [],
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
    pseudonymised: z.boolean().optional().describe('Names in what you read are pseudonyms.'),
    open_in_qualcoder_by: z.string().optional().describe('While set, changes are refused.'),
  }),

  async run(_, { services, principal }) {
    const project = await services.projects.find();
    if (!project) return { project_open: false };
    const lens = privacyViewFor(principal, project.store, await services.privacy.rules(project.id));
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
      ...(lens.masked ? { pseudonymised: true } : {}),
      ...(holder ? { open_in_qualcoder_by: holder.user } : {}),
    };
  },
});

/** Parts of a name may be ordinary words, so the researcher sees where they occur before agents read a changed text. */
function formsInTexts(name: Pseudonym, project: ProjectReader): string[] {
  return partsOf(name).flatMap((part) => {
    const find = nameFinder([{ original: part, pseudonym: name.pseudonym }]);
    let places = 0;
    for (const { id: source } of project.sources()) {
      const text = project.text(source)?.value ?? '';
      const full = new Pseudonymiser([{ ...name, exact: true }]).mask(text);
      for (const _ of find?.(full) ?? []) places += 1;
    }
    if (places === 0) return [];
    const where = `${places} place${places === 1 ? '' : 's'}`;
    return [
      `“${part}” alone and its inflected forms are replaced too, in ${where}. Set exact if it is also an ordinary word.`,
    ];
  });
}

/** For the web app and the command line. The names themselves stay out of the log. */
export const setPseudonym = defineResearchTool({
  name: 'set_pseudonym',
  title: 'Set a pseudonym',
  summary:
    'Replaces a name by a pseudonym in everything agents read. An empty pseudonym removes the name from the map.',
  effect: 'change',
  reach: 'local',
  category: 'privacy',
  profiles: [],
  errors: ['no_project', 'validation_error'],
  privateArgs: ['original', 'variants'],
  privateData: ['warnings'],
  input: z.object({
    original: z.string(),
    pseudonym: z.string(),
    variants: z.array(z.string()).optional().describe('Further forms of the name, such as a nickname.'),
    exact: z
      .boolean()
      .optional()
      .describe('Replace only the name as it is written: no parts of it and no inflected forms.'),
  }),
  output: z.object({
    pseudonym_count: z.int(),
    warnings: z.array(z.string()).describe('Other forms that are replaced too, with how often they occur.'),
  }),

  async run({ pseudonym, variants, exact, original }, { services, principal }) {
    requirePerson(principal, 'set pseudonyms');
    const project = await services.projects.current();
    const name = {
      original,
      pseudonym,
      ...(variants ? { variants } : {}),
      ...(exact === undefined ? {} : { exact }),
    };
    await services.privacy.setPseudonym(project.id, name, principalName(principal));
    return {
      pseudonym_count: (await services.privacy.rules(project.id)).names.length,
      warnings: pseudonym.trim() ? formsInTexts(name, project.store) : [],
    };
  },
});

/** For the web app and the command line; an agent cannot lift what keeps it out. */
export const setSourceAccess = defineResearchTool({
  name: 'set_source_access',
  title: 'Keep a source from agents',
  summary: 'Marks a source as off limits to agents, or opens it again. Takes effect with the next call.',
  effect: 'change',
  reach: 'local',
  category: 'privacy',
  profiles: [],
  errors: ['no_project', 'source_not_found'],
  input: z.object({ source_id: id(), off_limits: z.boolean() }),
  output: z.object({ source_id: z.int(), off_limits: z.boolean() }),

  async run({ source_id, off_limits }, { services, principal }) {
    requirePerson(principal, 'decide what agents may read');
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
