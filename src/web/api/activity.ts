import type { Hono } from 'hono';
import { z } from 'zod';
import { ToolError } from '../../contract/errors.ts';
import type { JsonValue } from '../../contract/json.ts';
import type { Approval, CallFilter, CallRecord } from '../../contract/ports.ts';
import { fieldRows } from '../../kernel/approvals/fields.ts';
import { describeRule } from '../../kernel/approvals/present.ts';
import { UnreadableApproval } from '../../kernel/approvals/row.ts';
import { compareWithLog, describeCalls } from '../../kernel/views/activity.ts';
import { readStory } from '../../kernel/views/story.ts';
import { isObject } from '../../lib/is-object.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';
import { readQuery } from './body.ts';
import { showUndo } from './undo.ts';

const HOUR_MS = 3_600_000;
const filterQuery = z.object({
  tool: z.string().optional(),
  principal: z.string().optional(),
  status: z.string().optional(),
  run: z.string().optional(),
  /** Words that must all occur. */
  text: z.string().max(200).optional(),
  /** Only of the last so many hours, counted when the page asks. */
  hours: z.coerce.number().positive().max(100_000).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  offset: z.coerce.number().int().min(0).default(0),
});

/** Every call there was, its evidence, and a run as a file to download. */
export function addActivityRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  const resolve = (name: string) => ports.inventory.resolve(name);
  const describe = (calls: readonly CallRecord[]) => describeCalls(ports.database, resolve, calls);

  answer(api, 'GET /activity', async (context) => {
    const query = readQuery(context, filterQuery);
    const filter: CallFilter = {
      ...(query.tool ? { tool: query.tool } : {}),
      ...(query.principal ? { principal: query.principal } : {}),
      ...(query.status ? { statuses: query.status.split(',') } : {}),
      ...(query.run ? { runId: query.run } : {}),
      ...(query.text?.trim() ? { text: query.text } : {}),
      ...(query.hours ? { since: new Date(ports.now().getTime() - query.hours * HOUR_MS) } : {}),
      limit: query.limit,
      offset: query.offset,
    };
    const calls = await describe(await ports.kernel.telemetry.calls(filter));
    return { calls: await compareWithLog(ports.database, calls) };
  });

  answer(api, 'GET /activity/:id', async (context) => {
    const call = await ports.kernel.telemetry.call(context.req.param('id'));
    if (!call) throw new ToolError('not_found', 'Call not found.');
    const [described] = await describe([call]);
    if (!described) throw new ToolError('not_found', 'Call not found.');
    const bound = await resolve(call.tool);
    const approval = await findReadable(ports, call.approvalId);
    const { proof, problems } = await prove(ports, call.callId);
    return {
      ...described,
      args: call.args ?? null,
      result: call.result ?? null,
      fields: isObject<JsonValue>(call.args)
        ? fieldRows(call.args, bound?.tool.input.json ?? {}, new Set())
        : [],
      tool_title: bound?.tool.title ?? call.tool,
      rule_title: call.rule === undefined ? null : describeRule(call.rule, '', undefined).title,
      undo: approval ? await showUndo(ports, approval) : null,
      finished_at: call.finishedAt?.toISOString() ?? null,
      proof,
      differences: [...(await ports.ports.audit.differences(call.callId)), ...problems],
    };
  });

  answer(api, 'GET /activity/:id/story', async (context) => {
    await ports.kernel.flush();
    const story = await readStory(ports.database, context.req.param('id'), resolve);
    if (!story) throw new ToolError('not_found', 'Call not found.');
    return story;
  });

  api.get('/runs/:id/export', async (context) => {
    const id = context.req.param('id');
    const bundle = await ports.exportRun(id);
    if (!bundle) throw new ToolError('not_found', `Run ${id} is not in the audit log.`);
    const name = `run-${id.replace(/[^\w.-]/g, '_')}.json`;
    return context.json(bundle, 200, { 'content-disposition': `attachment; filename="${name}"` });
  });

  answer(api, 'GET /log-keys', async () => ({ keys: await ports.logKeys() }));
}

/** Without its approval a call has no undo, and is shown all the same. */
async function findReadable({ kernel }: WebPorts, id: number | undefined): Promise<Approval | undefined> {
  if (id === undefined) return undefined;
  return kernel.approvals.get(id).catch((error: unknown) => {
    if (error instanceof UnreadableApproval) return undefined;
    throw error;
  });
}

async function prove({ ports }: WebPorts, callId: string) {
  try {
    return { proof: (await ports.audit.proof(callId)) ?? null, problems: [] };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { proof: null, problems: [error.message] };
  }
}
