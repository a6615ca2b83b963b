import type { Hono } from 'hono';
import { z } from 'zod';
import { ToolError } from '../../contract/errors.ts';
import { standingDraft } from '../../contract/standing.ts';
import { standingSentence } from '../../kernel/approvals/predicates.ts';
import type { StandingDraftData, StandingTestData } from '../../kernel/views/shapes.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { presentOutcome, readJson, send } from './body.ts';

const testBody = z.strictObject({ draft: standingDraft });
/** With an approval, that call is approved too: exactly the version that the person saw. */
const addBody = z.strictObject({
  draft: standingDraft,
  approve: z.strictObject({ id: z.int(), version: z.int() }).optional(),
});

/** Decisions that people make in advance: drafted from an approval, tested on past calls, then saved. */
export function addStandingRoutes(api: Hono<WebEnv>, { kernel }: WebPorts): void {
  const { standing } = kernel;

  api.get('/standing', async () => send({ standing: await standing.list() }));

  api.get('/standing/draft/:approval', async (context) => {
    const id = context.req.param('approval');
    const approval = await kernel.approvals.get(id);
    if (!approval) throw new ToolError('not_found', `Approval ${id} not found.`);
    const { remember } = await kernel.approvals.present(approval);
    if (!remember.possible) throw new ToolError('not_allowed', remember.why ?? 'It cannot be remembered.');
    const draft = standing.draftFrom(approval);
    const data: StandingDraftData = {
      draft,
      sentence: standingSentence(draft),
      test: await standing.test(draft),
    };
    return send(data);
  });

  api.post('/standing/test', async (context) => {
    const { draft } = await readJson(context, testBody);
    const data: StandingTestData = { sentence: standingSentence(draft), test: await standing.test(draft) };
    return send(data);
  });

  api.post('/standing', async (context) => {
    const { draft, approve } = await readJson(context, addBody);
    const { person } = context.get('session');
    const added = await standing.add(draft, person);
    if (!approve) return send({ standing: added, result: null }, 201);
    const { version } = approve;
    try {
      const { approval, outcome } = await kernel.approvals.approve(approve.id, person, { version });
      const result = outcome ? presentOutcome(outcome) : null;
      return send({ standing: added, approval: { id: approval.id, state: approval.state }, result }, 201);
    } catch (error) {
      // The person agreed to both together: without the call there is nothing to remember.
      await standing.revoke(added.id, person);
      throw error;
    }
  });

  api.post('/standing/:id/revoke', async (context) => {
    const id = Number(context.req.param('id'));
    if (!Number.isInteger(id) || !(await standing.revoke(id, context.get('session').person)))
      throw new ToolError(
        'not_found',
        `No active standing approval has the number ${context.req.param('id')}.`,
      );
    return send({ revoked: true });
  });
}
