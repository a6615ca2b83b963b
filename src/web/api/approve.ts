import type { Hono } from 'hono';
import type { Approval, ApproveOptions } from '../../contract/ports.ts';
import type { Presentation } from '../../contract/presentation.ts';
import type { Principal } from '../../contract/principal.ts';
import type { DecisionResult, HoldView } from '../../kernel/views/shapes.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';
import { decided, each, toJson } from './approval-json.ts';
import type { ToHold } from './holds.ts';

const SHOWN_TO_OTHERS: readonly Presentation['kind'][] = ['post', 'message', 'reaction'];

/** A live call that publishes or has no undo. A permit runs nothing, and what must be signed was refused before. */
const isHeld = ({ kind }: Approval, { kind: what, target, undo }: Presentation): boolean =>
  kind === 'call' &&
  target.environment === 'live' &&
  (SHOWN_TO_OTHERS.includes(what) || undo.possible !== true);

/** Approving, which runs a call immediately or after a hold, and what a person can do while it is held. */
export function addApproveRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  const { kernel, holds } = ports;

  const approve = async (id: string | number, person: Principal, options: ApproveOptions) =>
    decided(await kernel.approvals.approve(id, person, options));

  answer(api, 'POST /inbox/:id/approve', async (context, options) => {
    const { person } = context.get('session');
    const id = context.req.param('id');
    if (holds.seconds === 0) return approve(id, person, options);
    // What would be refused after the hold is refused now.
    const approval = await kernel.approvals.requireApprovable(id, person, options);
    const held = await holds.ownOf(person, approval);
    if (held) return { ...onHold(approval, held), holds: [held] };
    const shown = await kernel.approvals.present(approval);
    if (!isHeld(approval, shown)) return approve(id, person, options);
    await holds.start(person, [toHold(approval, shown, options)]);
    const begun = await holds.ownOf(person, approval);
    return { ...onHold(approval, begun), holds: begun && [begun] };
  });

  answer(api, 'POST /inbox/approve', async (context, { ids, versions }) => {
    const { person } = context.get('session');
    const together = new Map<number, Approval>();
    const results = await each(ids, async (id, index): Promise<DecisionResult | Approval> => {
      const options = { version: versions?.[index] };
      const live = await findLive(ports, id, person, options);
      if (!live) return approve(id, person, options);
      if (!(await holds.ownOf(person, live))) together.set(live.id, live);
      return live;
    });
    await holds.start(
      person,
      [...together.values()].map((one) => toHold(one, { title: one.summary, done: one.summary })),
    );
    const begun = new Map<string, HoldView>();
    const shown: DecisionResult[] = [];
    for (const one of results) {
      const held = isApproval(one) ? await holds.ownOf(person, one) : undefined;
      if (held) begun.set(held.key, held);
      shown.push(isApproval(one) ? onHold(one, held) : one);
    }
    return { results: shown, ...(begun.size > 0 ? { holds: [...begun.values()] } : {}) };
  });

  answer(api, 'GET /holds', async (context) => ({
    holds: await holds.list(context.get('session').person),
  }));

  answer(api, 'POST /holds/:key/call-off', (context) =>
    holds.callOff(context.get('session').person, context.req.param('key')),
  );

  answer(api, 'POST /holds/:key/run', (context) =>
    holds.runNow(context.get('session').person, context.req.param('key')),
  );
}

/**
 * What is approved together is called off together, so every live call among it is held. Only an environment that may
 * have changed since the call was asked is resolved again.
 */
async function findLive(
  { kernel, holds }: WebPorts,
  id: number,
  person: Principal,
  options: ApproveOptions,
): Promise<Approval | undefined> {
  if (holds.seconds === 0) return undefined;
  const asked = await kernel.approvals.get(id);
  if (asked?.kind !== 'call' || asked.environment === 'local') return undefined;
  const approval = await kernel.approvals.requireApprovable(id, person, options);
  if (approval.environment !== 'sandbox') return approval;
  const { target } = await kernel.approvals.present(approval);
  return target.environment === 'live' ? approval : undefined;
}

const toHold = (
  { id, version }: Approval,
  { title, done }: Pick<Presentation, 'title' | 'done'>,
  { note, prepare }: ApproveOptions = {},
): ToHold => ({ id, version, title, done, note, prepare });

const isApproval = (result: object): result is Approval => 'createdAt' in result;

const onHold = (approval: Approval, held: HoldView | undefined) => ({
  ...toJson(approval),
  result: null,
  held: held?.key,
});
