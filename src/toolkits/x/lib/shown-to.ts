import type { JsonValue } from '../../../contract/json.ts';
import type { Approval, CallFilter, CallRecord } from '../../../contract/ports.ts';
import {
  LOCAL_AGENT,
  mayBeAnybody,
  type Principal,
  principalName,
  samePrincipal,
} from '../../../contract/principal.ts';
import { LOOPS } from '../growth/principals.ts';
import type { XServices } from '../services.ts';

/** Who reads, and where. */
interface Reader {
  readonly services: Pick<XServices, 'kernel'>;
  readonly principal: Principal;
}

const PAGE = 500;
const WAITING = { states: ['pending'], toolkit: 'x', kind: 'call', order: 'oldest' } as const;

/** What waits, oldest first. An agent is shown what it asked for itself and, where agents decide, what it may decide. */
export async function waitingFor(
  { services, principal }: Reader,
  limit: number,
): Promise<{ readonly count: number; readonly items: readonly Approval[] }> {
  const { approvals } = services.kernel;
  const mayApprove = agentsMayApprove(services.kernel.config.masked().approvals);
  if (principal.kind !== 'agent' || !mayApprove) {
    const filter = { ...WAITING, requesters: principal.kind === 'agent' ? ownNames(principal) : undefined };
    const [count, items] = await Promise.all([
      approvals.count(filter),
      limit > 0 ? approvals.list({ ...filter, limit }) : [],
    ]);
    return { count, items };
  }
  const own = new Set(ownNames(principal).map(principalName));
  const shown: Approval[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await approvals.list({ ...WAITING, limit: PAGE, offset });
    shown.push(
      ...page.filter(({ requester }) => own.has(principalName(requester)) || mayDecide(principal, requester)),
    );
    if (page.length < PAGE) return { count: shown.length, items: shown.slice(0, limit) };
  }
}

/** Calls, newest first; an agent is shown its own. */
export async function callsFor(
  { services, principal }: Reader,
  filter: CallFilter & { readonly limit: number },
): Promise<readonly CallRecord[]> {
  const { telemetry } = services.kernel;
  if (principal.kind !== 'agent') return telemetry.calls(filter);
  const found = await Promise.all(
    ownNames(principal).map((one) => telemetry.calls({ ...filter, principal: principalName(one) })),
  );
  return found
    .flat()
    .sort((a, b) => b.at.getTime() - a.at.getTime() || (a.callId < b.callId ? 1 : -1))
    .slice(0, filter.limit);
}

export const isShownTo = (reader: Principal, { principal }: Pick<CallRecord, 'principal'>): boolean =>
  reader.kind !== 'agent' || ownNames(reader).map(principalName).includes(principal);

/** The loops work for whoever set the server up, and that is who calls without a name. */
const ownNames = (reader: Principal): readonly Principal[] =>
  samePrincipal(reader, LOCAL_AGENT) ? [reader, ...LOOPS] : [reader];

/** As the queue decides it: nobody for a name behind which anybody may stand, and such a name for no agent. */
const mayDecide = (by: Principal, requester: Principal): boolean =>
  !mayBeAnybody(requester) && !(requester.kind === 'agent' && mayBeAnybody(by));

const agentsMayApprove = (approvals: JsonValue | undefined): boolean =>
  typeof approvals === 'object' &&
  approvals !== null &&
  !Array.isArray(approvals) &&
  approvals.agents_may_approve === true;
