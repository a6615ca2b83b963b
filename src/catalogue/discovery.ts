import { z } from 'zod';
import { ToolError } from '../contract/errors.ts';
import type { JsonObject } from '../contract/json.ts';
import { PROFILES, toolFactory } from '../contract/tool.ts';
import type { BoundTool } from '../contract/toolkit.ts';
import { plain } from './dialect.ts';
import { searchTools } from './search.ts';

const DEFAULT_HITS = 8;
const defineTool = toolFactory<readonly BoundTool[]>();

/** The meta-tool that re-enters the pipeline with the tool it names; transports unwrap it before anything runs. */
export const CALL_TOOL = 'call_tool';

const search = defineTool({
  name: 'search_tools',
  title: 'Search tools',
  summary:
    'Find tools by what they do. Returns names and one-line summaries; describe_tool gives the schema, call_tool runs one.',
  effect: 'read',
  reach: 'local',
  category: 'discovery',
  profiles: PROFILES,
  errors: [],
  input: z.object({
    query: z.string().min(1).describe('What you want to do, in a few words.'),
    limit: z.int().min(1).max(50).optional().describe(`Maximum results; ${DEFAULT_HITS} if unset.`),
  }),
  output: z.object({
    total: z.int(),
    tools: z.array(
      z.object({ name: z.string(), summary: z.string(), effect: z.string(), toolkit: z.string() }),
    ),
  }),
  async run({ query, limit }, { services }) {
    const hits = searchTools(services, query);
    const tools = hits.slice(0, limit ?? DEFAULT_HITS).map(({ tool, toolkit }) => ({
      name: tool.name,
      summary: tool.summary,
      effect: tool.effect,
      toolkit: toolkit.id,
    }));
    return { total: hits.length, tools };
  },
});

const describeTool = defineTool({
  name: 'describe_tool',
  title: 'Describe a tool',
  summary: 'Show the full description and input schema of one tool found with search_tools.',
  effect: 'read',
  reach: 'local',
  category: 'discovery',
  profiles: PROFILES,
  errors: ['not_found'],
  input: z.object({ name: z.string().min(1) }),
  output: z.object({
    name: z.string(),
    title: z.string(),
    description: z.string(),
    effect: z.string(),
    toolkit: z.string(),
    input_schema: z.record(z.string(), z.unknown()),
  }),
  async run({ name }, { services }) {
    const found = services.find(({ tool }) => tool.name === name);
    if (!found)
      throw new ToolError(
        'not_found',
        `Tool ${JSON.stringify(name)} not found. Use search_tools to find names.`,
      );
    const { tool, toolkit } = found;
    return {
      name: tool.name,
      title: tool.title,
      description: tool.summary,
      effect: tool.effect,
      toolkit: toolkit.id,
      input_schema: tool.input.json as JsonObject,
    };
  },
});

const callTool = defineTool({
  name: CALL_TOOL,
  title: 'Call a tool',
  summary: 'Run a tool by name with its arguments. Policy and approval apply to the tool that is run.',
  effect: 'read',
  reach: 'local',
  category: 'discovery',
  profiles: PROFILES,
  errors: ['not_found'],
  input: z.object({
    name: z.string().min(1),
    arguments: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Arguments as describe_tool shows them.'),
  }),
  output: z.record(z.string(), z.unknown()),
  async run({ name }) {
    // Reached only for a name that is not there: known ones never run as call_tool.
    throw new ToolError(
      'not_found',
      `Tool ${JSON.stringify(name)} not found. Use search_tools to find names.`,
    );
  },
});

/** Three tools in place of all of them, so that a client pays for what it uses. */
export function createDiscovery(reachable: () => Promise<readonly BoundTool[]>): readonly BoundTool[] {
  const toolkit = { id: 'discovery', dialect: plain };
  return [search, describeTool, callTool].map((tool) => ({ tool, toolkit, services: reachable }));
}
