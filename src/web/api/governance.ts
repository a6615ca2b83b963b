import type { Hono } from 'hono';
import { z } from 'zod';
import { ToolError } from '../../contract/errors.ts';
import { AgentNameError } from '../../kernel/agents.ts';
import { readAgent, readAgents } from '../../kernel/views/agents.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { readJson, send } from './body.ts';
import { offeredTools } from './policy.ts';

/** Agents, and the pause of all changes. */
export function addGovernanceRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  const { kernel } = ports;

  api.get('/agents', async (context) => {
    const agents = await kernel.agents.list();
    const paused = await kernel.agents.paused();
    return context.json({
      agents: agents.map(({ name, createdAt, revokedAt, damaged }) => ({
        name,
        created_at: createdAt.toISOString(),
        revoked_at: revokedAt?.toISOString() ?? null,
        paused_by: paused.get(name) ?? null,
        ...(damaged === undefined ? {} : { damaged }),
      })),
      // Names without a token, such as `local`, included.
      paused: Object.fromEntries(paused),
    });
  });
  api.get('/agents/overview', async () => send(await readAgents(kernel, ports.now())));
  api.get('/agents/:name/overview', async (context) => {
    const name = context.req.param('name');
    const agent = await readAgent(kernel, await offeredTools(ports), name, ports.now());
    if (!agent) throw new ToolError('not_found', `No agent is named ${name}.`);
    return send(agent);
  });
  api.post('/agents', async (context) => {
    const { name } = await readJson(context, z.object({ name: z.string() }).strict());
    const token = await kernel.agents.add(name, context.get('session').person).catch((error: unknown) => {
      throw error instanceof AgentNameError ? new ToolError('validation_error', error.message) : error;
    });
    return context.json({ name, token, snippets: ports.snippets(token) }, 201);
  });
  api.delete('/agents/:name', async (context) => {
    const name = context.req.param('name');
    if (!(await kernel.agents.revoke(name, context.get('session').person)))
      throw new ToolError('not_found', `No active agent is named ${name}.`);
    return context.json({ revoked: true });
  });

  for (const paused of [true, false]) {
    api.post(`/agents/:name/${paused ? 'pause' : 'resume'}`, async (context) => {
      const name = context.req.param('name');
      if (!(await kernel.agents.isKnown(name)))
        throw new ToolError('not_found', `No agent is named ${name}.`);
      const changed = await kernel.agents.setPaused(name, paused, context.get('session').person);
      return context.json({ name, paused, changed });
    });
  }

  for (const paused of [true, false]) {
    api.post(paused ? '/pause' : '/resume', async (context) => {
      await kernel.setPaused(paused, context.get('session').person);
      return context.json({ paused });
    });
  }
}
