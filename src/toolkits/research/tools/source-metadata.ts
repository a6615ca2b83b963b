import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { quoted } from '../../../lib/words.ts';
import { changeTitle, showProject, sourceNamed } from '../present.ts';
import type { PrivacyView } from '../privacy/privacy-view.ts';
import type { ProjectWriter } from '../project/types.ts';
import { defineResearchTool } from '../services.ts';
import { changeBy, openSession, reconcile } from '../session.ts';
import { filedShape } from '../suggestions/decide.ts';
import { createProposer, filedNote } from '../suggestions/propose.ts';
import { id } from './shapes.ts';
import { undoOfCall } from './undo.ts';

interface Metadata {
  readonly language?: string | undefined;
  readonly topics?: string[] | undefined;
  readonly organization_suggestion?: string | undefined;
}

/** QualCoder keeps what is known about a file as attributes of files. */
function writeMetadata(project: ProjectWriter, sourceId: number, metadata: Metadata): string[] {
  const values: (readonly [string, string | undefined])[] = [
    ['Language', metadata.language],
    ['Topics', metadata.topics?.join('; ')],
    ['Organization', metadata.organization_suggestion],
  ];
  return values.flatMap(([name, value]) => {
    if (value === undefined) return [];
    const attribute = attributeName(project, name);
    project.addAttributeType({ name: attribute, scope: 'file', valueType: 'character' });
    project.setAttribute({ name: attribute, scope: 'file', targetId: sourceId, value });
    return [attribute];
  });
}

/** An attribute has one name for cases, files and journals together. */
function attributeName(project: ProjectWriter, name: string): string {
  const taken = project.attributeTypes().find((type) => type.name === name && type.scope !== 'file');
  return taken ? `${name} (file)` : name;
}

/** An empty value would delete what is known instead of adding to it. */
function requireValues({ language, topics, organization_suggestion }: Metadata): void {
  const values = [language, organization_suggestion, ...(topics ?? [])].filter(
    (value) => value !== undefined,
  );
  if (topics?.length === 0 || values.some((value) => !value.trim()))
    throw new ToolError('validation_error', 'Empty language, topic or organization_suggestion. Omit it.');
  if (values.length === 0)
    throw new ToolError(
      'validation_error',
      'Nothing to set: give language, topics or organization_suggestion.',
    );
}

const storedSuggestion = (args: JsonObject, lens: PrivacyView): Metadata => ({
  ...(typeof args.language === 'string' ? { language: lens.tell(args.language) } : {}),
  ...(Array.isArray(args.topics) ? { topics: args.topics.map((topic) => lens.tell(String(topic))) } : {}),
  ...(typeof args.organization_suggestion === 'string'
    ? { organization_suggestion: lens.tell(args.organization_suggestion) }
    : {}),
});

/** The change suggest_source_metadata waits for. Not listed: agents suggest, the researcher decides. */
export const updateSourceMetadata = defineResearchTool({
  name: 'update_source_metadata',
  title: 'Set metadata of a source',
  summary: 'Writes language, topics and organization as file attributes of a source.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  errors: ['no_project', 'source_not_found', 'validation_error', 'busy'],
  input: z.object({
    source_id: id(),
    language: z.string().optional(),
    topics: z.array(z.string()).optional(),
    organization_suggestion: z.string().optional(),
  }),
  output: z.object({ status: z.string(), source_id: z.int(), attributes: z.array(z.string()) }),

  async present({ source_id, language, topics, organization_suggestion }, context) {
    const { target, asker } = await showProject(context);
    const name = sourceNamed(asker, source_id);
    const rows = [
      ...(language === undefined ? [] : [['Language', language]]),
      ...(topics === undefined ? [] : [['Topics', topics.join('; ')]]),
      ...(organization_suggestion === undefined ? [] : [['Organization', organization_suggestion]]),
    ];
    return {
      ...changeTitle('Set', 'Set', `metadata of ${quoted(name)} in ${target.label}`, target),
      act: 'set',
      kind: 'file',
      gist: rows.map((row) => row.join(': ')).join(', '),
      effect: {
        text: rows.length === 1 ? '1 attribute set' : `${rows.length} attributes set`,
        detail: 'The text stays',
      },
      body: [{ type: 'table', title: 'Attributes', columns: ['Attribute', 'Value'], rows, source: 'agent' }],
      covers: ['source_id', 'language', 'topics', 'organization_suggestion'],
    };
  },
  rollback: undoOfCall,
  check: requireValues,

  async run({ source_id, ...metadata }, context) {
    const session = await openSession(context);
    session.lens.source(source_id);
    const by = await changeBy(context, session, 'update_source_metadata');
    const attributes = await session.project.store.write(by, (project) =>
      writeMetadata(project, source_id, metadata),
    );
    return { status: 'updated', source_id, attributes };
  },

  reconcile: ({ source_id }, context) =>
    reconcile(context, () => ({ status: 'updated', source_id, attributes: [] })),
});

export const suggestSourceMetadata = defineResearchTool({
  name: 'suggest_source_metadata',
  title: 'Suggest metadata for a source',
  summary: 'Suggest metadata for a source (pending human approval).',
  effect: 'propose',
  reach: 'local',
  category: 'project',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'source_not_found', 'validation_error'],
  input: z.object({
    source_id: id(),
    language: z.string().optional().describe("e.g., 'en', 'es'"),
    topics: z.array(z.string()).optional(),
    organization_suggestion: z.string().optional(),
  }),
  output: z.object({
    source_id: z.int(),
    source_name: z.string(),
    suggested: z.object({
      language: z.string().optional(),
      topics: z.array(z.string()).optional(),
      organization_suggestion: z.string().optional(),
    }),
    status: z.string(),
    requires_approval: z.boolean(),
    suggestion_id: z.string(),
    ...filedShape,
  }),

  check: requireValues,

  async run({ source_id, language, topics, organization_suggestion }, context) {
    const session = await openSession(context);
    const source = session.lens.source(source_id);
    const suggested = {
      ...(language === undefined ? {} : { language }),
      ...(topics === undefined ? {} : { topics }),
      ...(organization_suggestion === undefined ? {} : { organization_suggestion }),
    };
    const proposer = await createProposer(context, session);
    const filed = await proposer.file({
      tool: 'update_source_metadata',
      args: { source_id, ...suggested },
      summary: `Set ${Object.entries(suggested)
        .map(([field, value]) => `${field} to “${String(value)}”`)
        .join(', ')} for ${source.name}`,
      rationale: '',
    });
    return {
      source_id,
      source_name: session.lens.mask(source.name),
      suggested: filed.alreadyPending
        ? { ...storedSuggestion(filed.approval.args, session.lens) }
        : suggested,
      status: 'pending_approval',
      requires_approval: true,
      suggestion_id: filed.approval.uuid,
      ...filedNote(filed, session.lens),
    };
  },
});
