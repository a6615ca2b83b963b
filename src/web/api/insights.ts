import type { Hono } from 'hono';
import { ToolError } from '../../contract/errors.ts';
import { readInsights } from '../../kernel/views/insights.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';

/** Calls, errors, latency and approvals over time, of all tools or one; the tables are always of all. */
export function addInsightRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  answer(api, 'GET /insights', async (context) => {
    const days = Number(context.req.query('days') ?? 7);
    if (!(days >= 1 && days <= 366)) throw new ToolError('invalid_input', 'days must be between 1 and 366.');
    const tool = context.req.query('tool');
    const now = ports.now();
    return readInsights(ports.database, ports.kernel.telemetry, { days, tool, now });
  });
}
