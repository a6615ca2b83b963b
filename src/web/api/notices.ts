import type { Hono } from 'hono';
import { z } from 'zod';
import {
  type Approval,
  type DamagedApproval,
  describeDamaged,
  describeForged,
  isDamaged,
  isReadable,
} from '../../contract/ports.ts';
import { describeRequester } from '../../contract/principal.ts';
import { findForged } from '../../kernel/approvals/genuine.ts';
import { withoutContent } from '../../kernel/approvals/webhook.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';
import { readQuery } from './body.ts';

const newsQuery = z.object({ after: z.coerce.number().int().min(0).optional() });
const LIMIT = 50;

const toNotice = (one: Approval | DamagedApproval, forged: ReadonlySet<number>) =>
  isDamaged(one) || forged.has(one.id)
    ? { id: one.id, title: isDamaged(one) ? describeDamaged(one) : describeForged(one), requester: '' }
    : {
        id: one.id,
        title: withoutContent(one.summary),
        requester: describeRequester(one.requester),
      };

/** What a notification of the browser may say of new approvals: a title without quoted text, and who asks. */
export function addNoticeRoutes(api: Hono<WebEnv>, { kernel, database }: WebPorts): void {
  answer(api, 'GET /notices', async (context) => {
    const { after } = readQuery(context, newsQuery);
    const newest = await kernel.approvals.page({ states: ['pending'], order: 'newest', limit: LIMIT });
    const fresh = after === undefined ? [] : newest.filter(({ id }) => id > after);
    const forged = await findForged(database, fresh.filter(isReadable));
    return {
      latest: Math.max(after ?? 0, newest[0]?.id ?? 0),
      notices: fresh.map((one) => toNotice(one, forged)),
    };
  });
}
