import type { Hono } from 'hono';
import { z } from 'zod';
import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject } from '../../contract/json.ts';
import { APPROVAL_STATES, type Approval, type Decided } from '../../contract/ports.ts';
import { principalName } from '../../contract/principal.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { readJson, readQuery, send } from './body.ts';
import { hintFor } from './hints.ts';
import { toldKept, toldOutcome } from './told.ts';
import { runUndo, showUndo } from './undo.ts';

const argsBody = z.object({ args: z.record(z.string(), z.unknown()) }).strict();
const rejectBody = z
  .object({ reason: z.string().max(2000).optional(), feedback: z.string().max(5000).optional() })
  .strict();
const seen = z.int().optional().describe('The version the person looked at; another one is refused.');
const idsBody = z
  .object({ ids: z.array(z.int()).min(1).max(500), versions: z.array(z.int()).optional() })
  .strict();
const rejectManyBody = rejectBody.extend({ ids: z.array(z.int()).min(1).max(500) });
const noteBody = z.object({ note: z.string().max(2000).optional(), version: seen }).strict();
const listQuery = z.object({
  state: z.string().default('pending'),
  toolkit: z.string().optional(),
  brief: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  offset: z.coerce.number().int().min(0).default(0),
});
const SUMMARY_SHOWN = 300;

/** Everything that waits for the person, and their decisions on it. */
export function addInboxRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  const { kernel } = ports;

  api.get('/inbox', async (context) => {
    const { state, toolkit, brief, ...page } = readQuery(context, listQuery);
    const states =
      state === 'all' ? APPROVAL_STATES : APPROVAL_STATES.filter((one) => state.split(',').includes(one));
    const filter = { states, ...(toolkit ? { toolkit } : {}) };
    const items = await kernel.approvals.list({
      ...filter,
      ...page,
      order: state === 'pending' ? 'danger' : 'newest',
    });
    const unsettled = await kernel.telemetry.calls({ statuses: ['indeterminate'], limit: 50 });
    return send({
      total: await kernel.approvals.count(filter),
      items: items.map(brief ? toBrief : toJson),
      indeterminate: unsettled.map(({ callId, tool, toolkit: kit, principal, at }) => ({
        call_id: callId,
        tool,
        toolkit: kit,
        principal,
        at: at.toISOString(),
      })),
    });
  });

  api.get('/inbox/count', async () => send({ total: await kernel.approvals.count({ states: ['pending'] }) }));

  api.get('/inbox/:id', async (context) => {
    const approval = await mustFind(ports, context.req.param('id'));
    const bound = await ports.inventory.resolve(approval.tool);
    const edits = await ports.database.db
      .selectFrom('approval_edits')
      .selectAll()
      .where('approval_id', '=', approval.id)
      .orderBy('edited_at')
      .execute();
    return send({
      ...toJson(approval),
      tool_title: bound?.tool.title ?? approval.tool,
      tool_summary: bound?.tool.summary ?? '',
      input_schema: (bound?.tool.input.json ?? {}) as JsonObject,
      edits: edits.map((edit) => ({
        at: edit.edited_at,
        editor: edit.editor,
        before: parse(edit.old_args),
        after: parse(edit.new_args),
      })),
      undo: await showUndo(ports, approval),
    });
  });

  api.post('/inbox/approve', async (context) => {
    const { ids, versions } = await readJson(context, idsBody);
    const { person } = context.get('session');
    return send({
      results: await each(ids, async (id, index) =>
        decided(await kernel.approvals.approve(id, person, { version: versions?.[index] })),
      ),
    });
  });

  api.post('/inbox/reject', async (context) => {
    const { ids, ...why } = await readJson(context, rejectManyBody);
    const { person } = context.get('session');
    return send({
      results: await each(ids, async (id) => toJson(await kernel.approvals.reject(id, person, why))),
    });
  });

  api.post('/inbox/:id/approve', async (context) => {
    const { note, version } = await readJson(context, noteBody);
    return send(
      decided(
        await kernel.approvals.approve(context.req.param('id'), context.get('session').person, {
          note,
          version,
        }),
      ),
    );
  });

  api.post('/inbox/:id/reject', async (context) => {
    const body = await readJson(context, rejectBody);
    return send(
      toJson(await kernel.approvals.reject(context.req.param('id'), context.get('session').person, body)),
    );
  });

  api.post('/inbox/:id/edit', async (context) => {
    const { args } = await readJson(context, argsBody);
    return send(
      toJson(
        await kernel.approvals.edit(
          context.req.param('id'),
          context.get('session').person,
          args as JsonObject,
        ),
      ),
    );
  });

  api.post('/inbox/:id/undo', async (context) => {
    const approval = await mustFind(ports, context.req.param('id'));
    return send(await runUndo(ports, approval, context.get('session').person));
  });

  api.post('/calls/:id/settle', async (context) => {
    const { happened } = await readJson(context, z.object({ happened: z.boolean() }).strict());
    const settled = await kernel.settle(context.req.param('id'), happened, context.get('session').person);
    if (!settled) throw new ToolFault('approval_state', 'Somebody settled this call already.');
    return send({ settled: true });
  });
}

/** One after the other; what is wrong with one is its own result. */
async function each(
  ids: readonly number[],
  work: (id: number, index: number) => Promise<JsonObject>,
): Promise<JsonObject[]> {
  const results: JsonObject[] = [];
  for (const [index, id] of ids.entries()) {
    try {
      results.push(await work(id, index));
    } catch (error) {
      if (!(error instanceof ToolFault)) throw error;
      results.push({ id, error: error.message, code: error.code, hint: hintFor(error.code) ?? null });
    }
  }
  return results;
}

const parse = (text: string): JsonObject => JSON.parse(text) as JsonObject;

async function mustFind({ kernel }: WebPorts, id: string): Promise<Approval> {
  const approval = await kernel.approvals.get(id);
  if (!approval) throw new ToolFault('not_found', `There is no approval ${id}.`);
  return approval;
}

const decided = ({ approval, outcome }: Decided): JsonObject => ({
  ...toJson(approval),
  result: outcome ? toldOutcome(outcome) : null,
});

/** What a list shows: ten thousand whole calls would not fit a page. */
const toBrief = (one: Approval): JsonObject => ({
  id: one.id,
  version: one.version,
  kind: one.kind,
  state: one.state,
  tool: one.tool,
  effect: one.effect,
  requester: principalName(one.requester),
  summary: one.summary.length > SUMMARY_SHOWN ? `${one.summary.slice(0, SUMMARY_SHOWN)}…` : one.summary,
  risks: one.risks.length,
  created_at: one.createdAt.toISOString(),
});

/** An approval as pages see it: names as the API writes them everywhere. */
function toJson(one: Approval): JsonObject {
  return {
    id: one.id,
    uuid: one.uuid,
    version: one.version,
    kind: one.kind,
    state: one.state,
    tool: one.tool,
    toolkit: one.toolkit,
    effect: one.effect,
    args: one.args,
    requester: principalName(one.requester),
    requester_label: one.requester.label ?? null,
    reason: one.reason,
    rule: one.rule,
    summary: one.summary,
    risks: [...one.risks],
    context: one.context,
    run_id: one.runId ?? null,
    group_id: one.groupId ?? null,
    created_at: one.createdAt.toISOString(),
    expires_at: one.expiresAt?.toISOString() ?? null,
    decided_at: one.decidedAt?.toISOString() ?? null,
    decided_by: one.decidedBy ? principalName(one.decidedBy) : null,
    decision_reason: one.decisionReason ?? null,
    feedback: one.feedback ?? null,
    call_id: one.callId ?? null,
    outcome: toldKept(one.outcome),
  };
}
