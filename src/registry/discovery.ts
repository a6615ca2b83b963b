import { z } from 'zod';
import { ToolFault } from '../contract/faults.ts';
import type { JsonObject } from '../contract/json.ts';
import { PROFILES } from '../contract/profile.ts';
import { toolFactory } from '../contract/tool.ts';
import type { OwnedTool } from './inventory.ts';

const DEFAULT_HITS = 8;
const defineTool = toolFactory<readonly OwnedTool[]>();

/** The meta-tool that re-enters the pipeline with the tool it names; transports unwrap it before anything runs. */
export const CALL_TOOL = 'call_tool';

const searchTools = defineTool({
  name: 'search_tools',
  title: 'Search tools',
  summary:
    'Find tools by what they do. Returns names and one-line summaries; describe_tool gives the schema, call_tool runs one.',
  effect: 'read',
  reach: 'local',
  category: 'discovery',
  profiles: PROFILES,
  faults: [],
  input: z.object({
    query: z.string().min(1).describe('What you want to do, in a few words.'),
    limit: z.int().min(1).max(50).optional().describe(`Most results; ${DEFAULT_HITS} if unset.`),
  }),
  output: z.object({
    total: z.int(),
    tools: z.array(
      z.object({ name: z.string(), summary: z.string(), effect: z.string(), toolkit: z.string() }),
    ),
  }),
  async run({ query, limit }, { services }) {
    const hits = rank(services, query);
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
  faults: ['not_found'],
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
      throw new ToolFault(
        'not_found',
        `There is no tool named ${JSON.stringify(name)}; search_tools finds names.`,
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
  faults: ['not_found'],
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
    throw new ToolFault(
      'not_found',
      `There is no tool named ${JSON.stringify(name)}; search_tools finds names.`,
    );
  },
});

/** Three tools in place of all of them, so that a client pays for what it uses. */
export function createDiscovery(reachable: () => Promise<readonly OwnedTool[]>): readonly OwnedTool[] {
  const toolkit = { id: 'discovery', dialect: 'plain' as const };
  return [searchTools, describeTool, callTool].map((tool) => ({ tool, toolkit, services: reachable }));
}

function rank(tools: readonly OwnedTool[], query: string): OwnedTool[] {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  return tools
    .map((owned) => ({ owned, score: score(owned, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.owned.tool.name < b.owned.tool.name ? -1 : 1))
    .map(({ owned }) => owned);
}

/** Names weigh most: they are short and chosen. A word counts once where it says the most. */
function score({ tool, toolkit }: OwnedTool, words: readonly string[]): number {
  const name = tool.name.toLowerCase();
  const parts = name.split('_');
  const text = `${tool.title} ${tool.summary} ${tool.category} ${toolkit.id} ${tool.effect}`.toLowerCase();
  let total = 0;
  for (const word of words) {
    const stem = word.length > 4 ? word.replace(/(ies|es|s|ing|ed)$/, '') : word;
    if (name === word) total += 10;
    else if (parts.includes(word)) total += 5;
    else if (name.includes(stem)) total += 3;
    else if (text.includes(stem)) total += 1;
  }
  return total;
}
