import type { Hono } from 'hono';
import { ToolError } from '../../contract/errors.ts';
import type { Principal } from '../../contract/principal.ts';
import { AgentNameError } from '../../kernel/agents.ts';
import { readAgent, readAgents } from '../../kernel/views/agents.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';
import { offeredTools } from './policy.ts';

/** Agents, and the pause of all changes. */
export function addGovernanceRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  const { kernel } = ports;

  answer(api, 'GET /agents', async () => {
    const agents = await kernel.agents.list();
    const paused = await kernel.agents.paused();
    return {
      agents: agents.map(({ name, createdAt, revokedAt, damaged }) => ({
        name,
        created_at: createdAt.toISOString(),
        revoked_at: revokedAt?.toISOString() ?? null,
        paused_by: paused.get(name) ?? null,
        ...(damaged === undefined ? {} : { damaged }),
      })),
      paused: Object.fromEntries(paused),
    };
  });
  answer(api, 'GET /agents/overview', () => readAgents(kernel, ports.now()));
  answer(api, 'GET /agents/:name/overview', async (context) => {
    const name = context.req.param('name');
    const agent = await readAgent(kernel, await offeredTools(ports), name, ports.now());
    if (!agent) throw new ToolError('not_found', `No agent is named ${name}.`);
    return agent;
  });
  const add = async (name: string, by: Principal) => {
    const token = await kernel.agents.add(name, by).catch((error: unknown) => {
      throw error instanceof AgentNameError ? new ToolError('validation_error', error.message) : error;
    });
    return { name, token, snippets: ports.snippets(token) };
  };
  answer(api, 'POST /agents', (context, { name }) => add(name, context.get('session').person), 201);
  answer(api, 'DELETE /agents/:name', async (context) => {
    const name = context.req.param('name');
    if (!(await kernel.agents.revoke(name, context.get('session').person)))
      throw new ToolError('not_found', `No active agent is named ${name}.`);
    return { revoked: true };
  });

  for (const paused of [true, false]) {
    answer(api, `POST /agents/:name/${paused ? 'pause' : 'resume'}`, async (context) => {
      const name = context.req.param('name');
      if (!(await kernel.agents.isKnown(name)))
        throw new ToolError('not_found', `No agent is named ${name}.`);
      const changed = await kernel.agents.setPaused(name, paused, context.get('session').person);
      return { name, paused, changed };
    });
  }

  for (const paused of [true, false]) {
    answer(api, paused ? 'POST /pause' : 'POST /resume', async (context) => {
      await kernel.setPaused(paused, context.get('session').person);
      return { paused };
    });
  }
}
