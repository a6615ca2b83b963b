import { type Approval, type CallRecord, describeAsked, isReadable } from '../../../contract/ports.ts';
import { principalName } from '../../../contract/principal.ts';
import type { ViewData } from '../../../contract/view.ts';
import type { Change } from '../project/journal.ts';
import { isAgentOwner } from '../project/memo.ts';
import type { OpenProject } from '../project/projects.ts';
import type { ResearchServices } from '../services.ts';
import { isSuggestion, listSuggestions } from '../suggestions/propose.ts';
import type { views } from '../views.ts';

const PAGE = 1000;
/** Single calls are looked up to see which sources were read; beyond this the count is a lower bound. */
const LOOKED_UP = 5000;
const KINDS: { readonly [tool: string]: string } = {
  create_code: 'new codes',
  merge_codes: 'merges of codes',
  apply_code: 'codings',
  update_source_metadata: 'metadata',
};

export type AuditTrail = ViewData<typeof views.audit_trail>;

/** Who did what in a project, agents and people, from the log, the queue and the journal. */
export async function auditTrail(services: ResearchServices, project: OpenProject): Promise<AuditTrail> {
  const { store } = project;
  const info = store.info();
  const calls = await callsOf(services, project.id);
  const suggestions = await listSuggestions(services.approvals, project.id, Object.keys(KINDS), ALL_STATES);
  const asked = await askedFirst(services, project.id);
  const changes = await changesOf(project);
  const codings = store.codings();
  const rules = await services.privacy.rules(project.id);
  const makers = await store.journal.makers('code_text', codings);
  const byAgents = codings.filter(({ owner }) => isAgentOwner(owner));
  const madeBy = byAgents.map(({ id }) => makers.get(id));
  const times = calls.map(({ at }) => at.getTime());
  return {
    project: {
      name: info.name,
      path: info.path,
      format_version: `v${info.version}`,
      created_at: info.date,
      sources: store.sources().length,
      codes: store.codes().length,
      codings: codings.length,
    },
    period: {
      from: times.length ? new Date(times.reduce((a, b) => Math.min(a, b))).toISOString() : null,
      until: times.length ? new Date(times.reduce((a, b) => Math.max(a, b))).toISOString() : null,
    },
    actors: await actorsOf(services, calls, suggestions, [...suggestions, ...asked]),
    asked_first: countStates(asked),
    suggestions: Object.entries(KINDS).flatMap(([tool, kind]) => countKind(kind, suggestions, tool)),
    rejection_reasons: suggestions.flatMap((item) =>
      item.state === 'rejected' && (item.decisionReason || item.feedback)
        ? [
            {
              suggestion: describeAsked(item),
              reason: item.decisionReason ?? '',
              feedback: item.feedback ?? '',
            },
          ]
        : [],
    ),
    codings_by_coder: countBy(codings, ({ owner }) => owner).map(([coder, count]) => ({
      coder,
      kind: isAgentOwner(coder) ? 'agent' : 'person',
      count,
    })),
    agent_codings: {
      approved: madeBy.filter((maker) => maker?.approvedBy).length,
      unapproved: madeBy.filter((maker) => maker && !maker.approvedBy).length,
      unknown: madeBy.filter((maker) => !maker).length,
    },
    methods: countBy(changes, ({ method }) => method ?? '').flatMap(([method, count]) =>
      method ? [{ method, changes: count }] : [],
    ),
    changes: {
      applied: changes.filter(({ state, undoes }) => state === 'applied' && undoes === undefined).length,
      undone: changes.filter(({ state, undoes }) => state === 'undone' && undoes === undefined).length,
    },
    privacy: { off_limits_sources: rules.offLimits.size, pseudonyms: rules.names.length },
    checkpoint: (await services.audit.checkpoint()) ?? null,
  };
}

const ALL_STATES = [
  'pending',
  'approved',
  'executing',
  'done',
  'failed',
  'indeterminate',
  'rejected',
  'expired',
  'withdrawn',
] as const;

async function callsOf({ telemetry, projects }: ResearchServices, projectId: string): Promise<CallRecord[]> {
  const found: CallRecord[] = [];
  for (const { from, until } of await projects.openIntervals(projectId)) {
    for (let offset = 0; ; offset += PAGE) {
      const page = await telemetry.calls({ toolkit: 'research', since: from, until, limit: PAGE, offset });
      found.push(...page);
      if (page.length < PAGE) break;
    }
  }
  return found;
}

/** Calls that policy stopped to ask about; one that names no project belongs to the project that was open then. */
async function askedFirst({ approvals, projects }: ResearchServices, projectId: string): Promise<Approval[]> {
  const openIntervals = await projects.openIntervals(projectId);
  const found: Approval[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await approvals.page({
      toolkit: 'research',
      kind: 'call',
      states: ALL_STATES,
      order: 'oldest',
      limit: PAGE,
      offset,
    });
    found.push(
      ...page
        .filter(isReadable)
        .filter(
          (one) =>
            !isSuggestion(one) &&
            one.requester.kind === 'agent' &&
            (one.context.project === projectId ||
              (one.context.project === undefined && openIntervals.some(during(one.createdAt)))),
        ),
    );
    if (page.length < PAGE) return found;
  }
}

const during =
  (at: Date) =>
  ({ from, until }: { readonly from: Date; readonly until?: Date | undefined }): boolean =>
    at >= from && (until === undefined || at < until);

async function changesOf({ store }: OpenProject): Promise<Change[]> {
  const found: Change[] = [];
  for (;;) {
    const page = await store.journal.recent(PAGE, found.at(-1)?.id);
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}

async function actorsOf(
  services: ResearchServices,
  calls: readonly CallRecord[],
  suggestions: readonly Approval[],
  decided: readonly Approval[],
) {
  const names = new Set([
    ...calls.map(({ principal }) => principal),
    ...decided.flatMap(({ decidedBy }) => (decidedBy ? [principalName(decidedBy)] : [])),
  ]);
  const read = await sourcesRead(services, calls);
  return [...names].sort().map((principal) => {
    const own = calls.filter((call) => call.principal === principal);
    const count = (...effects: string[]) =>
      own.filter(({ effect, status }) => effects.includes(effect) && status === 'ok').length;
    return {
      principal,
      kind: kindOf(principal),
      clients: [...new Set(own.flatMap(({ client }) => (client ? [client] : [])))].sort(),
      calls: own.length,
      reads: count('read'),
      changes: count('change', 'destroy'),
      refused: own.filter(({ status }) => status === 'refused').length,
      suggestions: suggestions.filter(({ requester }) => principalName(requester) === principal).length,
      decisions: decided.filter(({ decidedBy }) => decidedBy && principalName(decidedBy) === principal)
        .length,
      sources_read: read.get(principal)?.size ?? 0,
    };
  });
}

async function sourcesRead(
  { telemetry }: ResearchServices,
  calls: readonly CallRecord[],
): Promise<Map<string, Set<number>>> {
  const found = new Map<string, Set<number>>();
  const reads = calls.filter(({ tool, status }) => tool === 'read_source_content' && status === 'ok');
  for (const { callId, principal } of reads.slice(0, LOOKED_UP)) {
    const args = (await telemetry.call(callId))?.args;
    const source = args && typeof args === 'object' && !Array.isArray(args) ? args.source_id : undefined;
    if (typeof source !== 'number') continue;
    const sources = found.get(principal) ?? new Set();
    found.set(principal, sources.add(source));
  }
  return found;
}

function countKind(kind: string, suggestions: readonly Approval[], tool: string) {
  const own = suggestions.filter((item) => item.tool === tool);
  return own.length === 0 ? [] : [{ kind, ...countStates(own) }];
}

function countStates(items: readonly Approval[]) {
  const count = (...states: string[]) => items.filter(({ state }) => states.includes(state)).length;
  return {
    total: items.length,
    approved: count('done', 'approved', 'executing'),
    rejected: count('rejected', 'withdrawn', 'expired'),
    pending: count('pending'),
    failed: count('failed', 'indeterminate'),
  };
}

function countBy<T>(items: readonly T[], key: (item: T) => string): [string, number][] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

const kindOf = (principal: string) =>
  principal.startsWith('person:')
    ? ('person' as const)
    : principal.startsWith('agent:')
      ? ('agent' as const)
      : ('system' as const);
