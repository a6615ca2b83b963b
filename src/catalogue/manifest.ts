import { isChange, type Profile } from '../contract/tool.ts';
import type { BoundTool } from '../contract/toolkit.ts';

const SCHEMA_VERSION = '1.2';

export interface ManifestTool {
  readonly name: string;
  readonly toolkit: string;
  readonly category: string;
  readonly effect: string;
  readonly mutation: boolean;
  readonly requires_x_client: boolean;
  readonly requires_llm: boolean;
  readonly requires_db: boolean;
  readonly requires_scopes: readonly string[];
  readonly requires_user_auth: boolean;
  readonly requires_elevated_access: boolean;
  readonly profiles: readonly Profile[];
  readonly possible_error_codes: readonly string[];
}

export interface Manifest {
  readonly countersign_version: string;
  readonly mcp_schema_version: string;
  readonly profile: Profile;
  readonly tool_count: number;
  readonly tools: readonly ManifestTool[];
}

/** What a profile offers, for machines: sorted by name, the same input gives the same bytes. */
export function manifestOf(tools: readonly BoundTool[], profile: Profile, version: string): Manifest {
  const rows = tools.map(toManifestTool).sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    countersign_version: version,
    mcp_schema_version: SCHEMA_VERSION,
    profile,
    tool_count: rows.length,
    tools: rows,
  };
}

function toManifestTool({ tool, toolkit }: BoundTool): ManifestTool {
  const { requires = {} } = tool;
  return {
    name: tool.name,
    toolkit: toolkit.id,
    category: tool.category,
    effect: tool.effect,
    mutation: isChange(tool.effect) || tool.effect === 'decide',
    requires_x_client: requires.xClient ?? false,
    requires_llm: requires.llm ?? false,
    requires_db: requires.db ?? false,
    requires_scopes: requires.scopes ?? [],
    requires_user_auth: requires.userAuth ?? false,
    requires_elevated_access: requires.elevatedAccess ?? false,
    profiles: tool.profiles,
    possible_error_codes: [...tool.errors].sort(),
  };
}
