import { type Approval, describeAsked } from '../../../contract/ports.ts';
import { lookup } from '../../../lib/lookup.ts';
import { auditTrail } from '../audit/trail.ts';
import { personPrivacyView } from '../privacy/privacy-view.ts';
import type { Change } from '../project/journal.ts';
import { isAgentOwner } from '../project/memo.ts';
import type { RowChange } from '../project/recorder.ts';
import type { ProjectReader } from '../project/types.ts';
import type { Session } from '../session.ts';
import { argNumber, batchItems, batchStatus, showPending } from '../suggestions/decide.ts';
import { listSuggestions } from '../suggestions/propose.ts';
import { showChange } from '../tools/undo.ts';
import type { Answer } from './codes.ts';

const SUGGESTED = ['create_code', 'create_category', 'merge_codes', 'apply_code', 'update_source_metadata'];

/** The front page of the project. */
export const project: Answer<'project'> = async (_, { services }) => {
  const open = await services.projects.find();
  const recent = await services.projects.recent();
  if (!open) return { project_open: false, recent };
  const { store } = open;
  const info = store.info();
  const rules = await services.privacy.rules(open.id);
  const owners = new Map<string, number>();
  for (const { owner } of store.codings()) owners.set(owner, (owners.get(owner) ?? 0) + 1);
  const waiting = await listSuggestions(services.approvals, open.id, SUGGESTED, ['pending']);
  const holder = store.lockedBy();
  return {
    project_open: true,
    project_id: open.id,
    project_name: info.name,
    project_path: info.path,
    format_version: `v${info.version}`,
    created_at: info.date,
    memo: info.memo,
    coder: services.config.coder ?? info.coderName,
    ai: services.config.ai,
    source_count: store.sources().length,
    code_count: store.codes().length,
    category_count: store.categories().length,
    case_count: store.cases().length,
    coding_count: [...owners.values()].reduce((sum, count) => sum + count, 0),
    coders: [...owners].map(([name, count]) => ({
      name,
      count,
      kind: isAgentOwner(name) ? 'agent' : 'person',
    })),
    pending_count: waiting.length,
    off_limits_count: rules.offLimits.size,
    pseudonym_count: rules.names.length,
    open_in_qualcoder_by: holder?.user ?? null,
    recent,
  };
};

/** What changed the project through Countersign, newest first, for the undo list. */
export const changes: Answer<'changes'> = async ({ limit, before }, { services }) => {
  const { store } = await services.projects.current();
  const recent = await store.journal.recent(limit, before);
  const nameOf = namer(store);
  return recent.map((change) => ({ ...showChange(change), about: aboutOf(change, nameOf) }));
};

const NAMED = 3;

/** The codes, sources and cases a change concerns, by name; of many the first few. */
function aboutOf({ rows }: Change, nameOf: (row: RowChange) => string | undefined): string[] {
  const names = new Set<string>();
  for (const row of rows) {
    const name = nameOf(row);
    if (name !== undefined) names.add(name);
    if (names.size > NAMED) break;
  }
  const all = [...names];
  return all.length > NAMED ? [...all.slice(0, NAMED), '…'] : all;
}

/** Rows that are gone or were changed carry their old name; of added ones only the key is written down. */
function namer(store: ProjectReader): (row: RowChange) => string | undefined {
  const codings = lazy(() => new Map(store.codings().map(({ id, codeId }) => [id, codeId])));
  const named: Readonly<Record<string, (id: number) => string | undefined>> = {
    code_name: (id) => store.code(id)?.name,
    source: (id) => store.source(id)?.name,
    cases: (id) => store.cases().find((each) => each.id === id)?.name,
    code_text: (id) => store.code(codings().get(id) ?? -1)?.name,
  };
  return (row) => {
    if (row.kind === 'file') return undefined;
    if (row.kind === 'insert') return lookup(named, row.table)?.(Number(row.key));
    const image = row.kind === 'delete' ? row.row : row.before;
    if (row.table === 'code_text') return store.code(Number(image.cid?.[1] ?? -1))?.name;
    return image.name?.[0] === 't' ? image.name[1] : undefined;
  };
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export const privacy: Answer<'privacy'> = async (_, { services }) => {
  const { id, store } = await services.projects.current();
  const { offLimits, names } = await services.privacy.rules(id);
  return {
    off_limits: store
      .sources()
      .flatMap((item) => (offLimits.has(item.id) ? [{ id: item.id, name: item.name }] : [])),
    pseudonyms: names.map(({ original, pseudonym }) => ({ original, pseudonym })),
  };
};

export const auditTrailView: Answer<'audit_trail'> = async (_, { services }) =>
  auditTrail(services, await services.projects.current());

const KINDS = {
  create_code: 'code',
  merge_codes: 'merge',
  apply_code: 'coding',
  update_source_metadata: 'metadata',
} as const;
const isSuggested = (tool: string): tool is keyof typeof KINDS => Object.hasOwn(KINDS, tool);
const CONTEXT = 80;

export const suggestions: Answer<'suggestions'> = async ({ state }, { services }) => {
  const project = await services.projects.current();
  const session: Session = { project, lens: personPrivacyView(project.store) };
  const items = await listSuggestions(services.approvals, project.id, Object.keys(KINDS), [state]);
  return items.flatMap((item) =>
    isSuggested(item.tool) ? [showSuggestion(session, item, KINDS[item.tool])] : [],
  );
};

function showSuggestion(session: Session, item: Approval, kind: (typeof KINDS)[keyof typeof KINDS]) {
  return {
    ...showPending(item),
    approval_id: item.id,
    version: item.version,
    kind,
    args: item.args,
    summary: describeAsked(item),
    risks: [...item.risks],
    decision_reason: item.decisionReason ?? null,
    feedback: item.feedback ?? null,
    passage: kind === 'coding' ? passageOf(session, item.args) : null,
  };
}

/** One suggested coding for the inbox: what it is about, in words instead of numbers. Null for another project. */
export const passage: Answer<'passage'> = async ({ project: wanted, code_id, ...place }, { services }) => {
  const project = await services.projects.current();
  if (wanted !== undefined && wanted !== project.id) return null;
  const lens = personPrivacyView(project.store);
  const found = passageOf({ project, lens }, place);
  const code = lens.reader.code(code_id);
  return found && { ...found, code_name: code?.name ?? null, code_color: code?.color ?? null };
};

/** The passage with a little text around it; null when it is no longer there. */
function passageOf({ lens }: Session, args: Parameters<typeof argNumber>[0]) {
  const id = argNumber(args, 'source_id');
  const text = lens.reader.text(id);
  const start = argNumber(args, 'start_pos');
  const end = argNumber(args, 'end_pos');
  if (!text || end > text.length) return null;
  return {
    source_name: lens.reader.source(id)?.name ?? '',
    before: text.slice(Math.max(0, start - CONTEXT), start),
    text: text.slice(start, end),
    after: text.slice(end, Math.min(text.length, end + CONTEXT)),
  };
}

export const batch: Answer<'batch'> = async ({ batch_id }, { services }) => {
  const items = await batchItems(services, batch_id);
  return { batch_id, ...batchStatus(items), suggestions: items.map(showPending) };
};
