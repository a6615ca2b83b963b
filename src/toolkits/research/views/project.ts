import type { JsonObject } from '../../../contract/json.ts';
import type { View } from '../../../contract/toolkit.ts';
import { isAgentOwner } from '../lib/owner.ts';
import type { ResearchServices } from '../services.ts';
import { listSuggestions } from '../suggestions/memory.ts';

const SUGGESTED = ['create_code', 'merge_codes', 'apply_code', 'update_source_metadata'];

/** The room's front page. */
export const project: View<ResearchServices> = async (_, { services }): Promise<JsonObject> => {
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
