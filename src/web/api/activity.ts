import type { Hono } from 'hono';
import { z } from 'zod';
import { ToolFault } from '../../contract/faults.ts';
import type { CallFilter, CallRecord } from '../../contract/ports.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { readQuery } from './body.ts';

const HOUR_MS = 3_600_000;
const filterQuery = z.object({
  tool: z.string().optional(),
  principal: z.string().optional(),
  status: z.string().optional(),
  run: z.string().optional(),
  /** Only of the last so many hours, counted when the page asks. */
  hours: z.coerce.number().positive().max(100_000).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  offset: z.coerce.number().int().min(0).default(0),
});

/** Every call there was, its evidence, and a run as a file to take away. */
export function addActivityRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  api.get('/activity', async (context) => {
    const query = readQuery(context, filterQuery);
    const filter: CallFilter = {
      ...(query.tool ? { tool: query.tool } : {}),
      ...(query.principal ? { principal: query.principal } : {}),
      ...(query.status ? { statuses: query.status.split(',') } : {}),
      ...(query.run ? { runId: query.run } : {}),
      ...(query.hours ? { since: new Date(ports.now().getTime() - query.hours * HOUR_MS) } : {}),
      limit: query.limit,
      offset: query.offset,
    };
    const calls = await ports.kernel.telemetry.calls(filter);
    return context.json({ calls: calls.map(toJson) });
  });

  api.get('/activity/:id', async (context) => {
    const call = await ports.kernel.telemetry.call(context.req.param('id'));
    if (!call) throw new ToolFault('not_found', 'There is no such call.');
    return context.json({
      ...toJson(call),
      args: call.args ?? null,
      result: call.result ?? null,
      finished_at: call.finishedAt?.toISOString() ?? null,
      proof: (await ports.ports.audit.proof(call.callId)) ?? null,
    });
  });

  api.get('/runs/:id/export', async (context) => {
    const id = context.req.param('id');
    const bundle = await ports.exportRun(id);
    if (!bundle) throw new ToolFault('not_found', `The log has no run ${id}.`);
    const name = `run-${id.replace(/[^\w.-]/g, '_')}.json`;
    return context.json(bundle, 200, { 'content-disposition': `attachment; filename="${name}"` });
  });

  api.get('/log-keys', async (context) => context.json({ keys: await ports.logKeys() }));
}

const toJson = (call: CallRecord) => ({
  call_id: call.callId,
  at: call.at.toISOString(),
  tool: call.tool,
  toolkit: call.toolkit,
  category: call.category,
  effect: call.effect,
  principal: call.principal,
  client: call.client ?? null,
  transport: call.transport,
  run_id: call.runId ?? null,
  status: call.status,
  code: call.code ?? null,
  decision: call.decision,
  rule: call.rule ?? null,
  latency_ms: call.latencyMs,
  evidence_hash: call.evidenceHash ?? null,
  approval_id: call.approvalId ?? null,
  replay_of: call.replayOf ?? null,
});
