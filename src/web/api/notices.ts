import type { Hono } from 'hono';
import { z } from 'zod';
import { type Approval, type DamagedApproval, describeDamaged, isDamaged } from '../../contract/ports.ts';
import { describeRequester } from '../../contract/principal.ts';
import { withoutContent } from '../../kernel/approvals/webhook.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';
import { readQuery } from './body.ts';

const newsQuery = z.object({ after: z.coerce.number().int().min(0).optional() });
const LIMIT = 50;

const toNotice = (one: Approval | DamagedApproval) =>
  isDamaged(one)
    ? { id: one.id, title: describeDamaged(one), requester: '' }
    : {
        id: one.id,
        title: withoutContent(one.summary),
        requester: describeRequester(one.requester),
      };

/** What a notification of the browser may say of new approvals: a title without quoted text, and who asks. */
export function addNoticeRoutes(api: Hono<WebEnv>, { kernel }: WebPorts): void {
  answer(api, 'GET /notices', async (context) => {
    const { after } = readQuery(context, newsQuery);
    const newest = await kernel.approvals.page({ states: ['pending'], order: 'newest', limit: LIMIT });
    return {
      latest: Math.max(after ?? 0, newest[0]?.id ?? 0),
      notices: after === undefined ? [] : newest.filter(({ id }) => id > after).map(toNotice),
    };
  });
}
