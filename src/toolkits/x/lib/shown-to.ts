import type { JsonValue } from '../../../contract/json.ts';
import type { Approval, CallFilter, CallRecord } from '../../../contract/ports.ts';
import { LOCAL_AGENT, type Principal, principalName, samePrincipal } from '../../../contract/principal.ts';
import { LOOPS } from '../growth/principals.ts';
import type { XServices } from '../services.ts';

/** Who reads, and where. */
interface Reader {
  readonly services: Pick<XServices, 'kernel'>;
  readonly principal: Principal;
}

const WAITING = { states: ['pending'], toolkit: 'x', kind: 'call', order: 'oldest' } as const;

/** What waits, oldest first. An agent is shown what it asked for itself and, where agents decide, what it may decide. */
export async function waitingFor(
  { services, principal }: Reader,
  limit: number,
): Promise<{ readonly count: number; readonly items: readonly Approval[] }> {
  const { approvals } = services.kernel;
  const isAgent = principal.kind === 'agent';
  const decides = isAgent && agentsMayApprove(services.kernel.config.masked().approvals);
  const filter = {
    ...WAITING,
    requesters: isAgent ? ownNames(principal) : undefined,
    orDecidableBy: decides ? principal : undefined,
  };
  const [count, items] = await Promise.all([
    approvals.count(filter),
    limit > 0 ? approvals.list({ ...filter, limit }) : [],
  ]);
  return { count, items };
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

const agentsMayApprove = (approvals: JsonValue | undefined): boolean =>
  typeof approvals === 'object' &&
  approvals !== null &&
  !Array.isArray(approvals) &&
  approvals.agents_may_approve === true;
