// Written by `npm run gen` from the folders beside this file. Do not edit.
import type { ConfigSection } from '../contract/config.ts';
import type { Effect } from '../contract/effect.ts';
import type { Profile } from '../contract/profile.ts';
import type { Toolkit } from '../contract/toolkit.ts';
import { sections as assistant } from './assistant/config.ts';
import { sections as x } from './x/config.ts';

export interface ToolkitEntry {
  readonly id: string;
  readonly title: string;
  readonly brings: readonly string[];
  readonly sections: readonly ConfigSection[];
  load(): Promise<Toolkit>;
  readonly catalogue: readonly {
    readonly name: string;
    readonly toolkit: string;
    readonly category: string;
    readonly effect: Effect;
    readonly profiles: readonly Profile[];
    readonly policyName?: string;
  }[];
}

export const toolkitEntries: readonly ToolkitEntry[] = [
  {
    id: "assistant",
    title: "Assistant",
    brings: [],
    sections: assistant,
    load: async () => (await import('./assistant/toolkit.ts')).toolkit as unknown as Toolkit,
    catalogue: [
      {"name":"order_clawdbot","toolkit":"assistant","category":"assistant","effect":"change","profiles":["write","admin"]},
    ],
  },
  {
    id: "governance",
    title: "Governance",
    brings: [],
    sections: [],
    load: async () => (await import('./governance/toolkit.ts')).toolkit as unknown as Toolkit,
    catalogue: [
      {"name":"approval_request","toolkit":"governance","category":"governance","effect":"propose","profiles":["write","admin"]},
      {"name":"approval_get","toolkit":"governance","category":"governance","effect":"read","profiles":["readonly","api-readonly","write","admin"]},
      {"name":"audit_get","toolkit":"governance","category":"governance","effect":"read","profiles":["readonly","api-readonly","write","admin"]},
    ],
  },
  {
    id: "x",
    title: "X",
    brings: [],
    sections: x,
    load: async () => (await import('./x/toolkit.ts')).toolkit as unknown as Toolkit,
    catalogue: [
      {"name":"approve_all","toolkit":"x","category":"approval","effect":"decide","profiles":["write","admin"]},
      {"name":"approve_item","toolkit":"x","category":"approval","effect":"decide","profiles":["write","admin"]},
      {"name":"get_capabilities","toolkit":"x","category":"meta","effect":"read","profiles":["readonly","api-readonly","write","admin"]},
      {"name":"get_config","toolkit":"x","category":"config","effect":"read","profiles":["readonly","api-readonly","write","admin"]},
      {"name":"get_mcp_error_breakdown","toolkit":"x","category":"telemetry","effect":"read","profiles":["write","admin"]},
      {"name":"get_mcp_tool_metrics","toolkit":"x","category":"telemetry","effect":"read","profiles":["write","admin"]},
      {"name":"get_mode","toolkit":"x","category":"meta","effect":"read","profiles":["readonly","api-readonly","write","admin"]},
      {"name":"get_mutation_detail","toolkit":"x","category":"analytics","effect":"read","profiles":["write","admin"]},
      {"name":"get_pending_count","toolkit":"x","category":"approval","effect":"read","profiles":["write","admin"]},
      {"name":"get_policy_status","toolkit":"x","category":"policy","effect":"read","profiles":["write","admin"]},
      {"name":"get_rate_limits","toolkit":"x","category":"policy","effect":"read","profiles":["write","admin"]},
      {"name":"get_recent_mutations","toolkit":"x","category":"analytics","effect":"read","profiles":["write","admin"]},
      {"name":"health_check","toolkit":"x","category":"health","effect":"read","profiles":["readonly","api-readonly","write","admin"]},
      {"name":"list_pending_approvals","toolkit":"x","category":"approval","effect":"read","profiles":["write","admin"]},
      {"name":"reject_item","toolkit":"x","category":"approval","effect":"decide","profiles":["write","admin"]},
      {"name":"validate_config","toolkit":"x","category":"config","effect":"read","profiles":["readonly","api-readonly","write","admin"]},
    ],
  },
];
