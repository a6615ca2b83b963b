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
  if (principal.kind !== 'agent') {
    const [count, items] = await Promise.all([
      approvals.count(WAITING),
      limit > 0 ? approvals.list({ ...WAITING, limit }) : [],
    ]);
    return { count, items };
  }
  const mayApprove = agentsMayApprove(services.kernel.config.masked().approvals);
  const shown: Approval[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await approvals.list({ ...WAITING, limit: PAGE, offset });
    shown.push(
      ...page.filter(
        ({ requester }) => isOwn(principal, requester) || (mayApprove && mayDecide(principal, requester)),
      ),
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
  const names = [principal, ...(samePrincipal(principal, LOCAL_AGENT) ? LOOPS : [])].map(principalName);
  const found = await Promise.all(names.map((name) => telemetry.calls({ ...filter, principal: name })));
  return found
    .flat()
    .sort((a, b) => b.at.getTime() - a.at.getTime() || (a.callId < b.callId ? 1 : -1))
    .slice(0, filter.limit);
}

export const isShownTo = (reader: Principal, { principal }: Pick<CallRecord, 'principal'>): boolean =>
  reader.kind !== 'agent' ||
  principal === principalName(reader) ||
  (samePrincipal(reader, LOCAL_AGENT) && principal.startsWith('system:'));

/** The loops work for whoever set the server up, and that is who calls without a name. */
const isOwn = (reader: Principal, requester: Principal): boolean =>
  samePrincipal(reader, requester) || (samePrincipal(reader, LOCAL_AGENT) && requester.kind === 'system');

/** As the queue decides it: nobody for a name behind which anybody may stand, and such a name for no agent. */
const mayDecide = (by: Principal, requester: Principal): boolean =>
  !mayBeAnybody(requester) && !(requester.kind === 'agent' && mayBeAnybody(by));

const agentsMayApprove = (approvals: JsonValue | undefined): boolean =>
  typeof approvals === 'object' &&
  approvals !== null &&
  !Array.isArray(approvals) &&
  approvals.agents_may_approve === true;
