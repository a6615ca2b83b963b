import type { Hono } from 'hono';
import { ToolError } from '../../contract/errors.ts';
import { standingSentence } from '../../kernel/approvals/predicates.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';
import { presentOutcome } from './body.ts';

/** Decisions that people make in advance: drafted from an approval, tested on past calls, then saved. */
export function addStandingRoutes(api: Hono<WebEnv>, { kernel }: WebPorts): void {
  const { standing } = kernel;

  answer(api, 'GET /standing', async () => ({ standing: await standing.list() }));

  answer(api, 'GET /standing/draft/:approval', async (context) => {
    const id = context.req.param('approval');
    const approval = await kernel.approvals.get(id);
    if (!approval) throw new ToolError('not_found', `Approval ${id} not found.`);
    const { remember } = await kernel.approvals.present(approval);
    if (!remember.possible) throw new ToolError('not_allowed', remember.why ?? 'It cannot be remembered.');
    const draft = standing.draftFrom(approval);
    return { draft, sentence: standingSentence(draft), test: await standing.test(draft) };
  });

  answer(api, 'POST /standing/test', async (_context, { draft }) => ({
    sentence: standingSentence(draft),
    test: await standing.test(draft),
  }));

  answer(
    api,
    'POST /standing',
    async (context, { draft, approve }) => {
      const { person } = context.get('session');
      const added = await standing.add(draft, person);
      if (!approve) return { standing: added, result: null };
      const { version } = approve;
      try {
        const { approval, outcome } = await kernel.approvals.approve(approve.id, person, { version });
        const result = outcome ? presentOutcome(outcome) : null;
        return { standing: added, approval: { id: approval.id, state: approval.state }, result };
      } catch (error) {
        // The person agreed to both together: without the call there is nothing to remember.
        await standing.revoke(added.id, person);
        throw error;
      }
    },
    201,
  );

  answer(api, 'POST /standing/:id/revoke', async (context) => {
    const id = Number(context.req.param('id'));
    if (!Number.isInteger(id) || !(await standing.revoke(id, context.get('session').person)))
      throw new ToolError(
        'not_found',
        `No active standing approval has the number ${context.req.param('id')}.`,
      );
    return { revoked: true };
  });
}
