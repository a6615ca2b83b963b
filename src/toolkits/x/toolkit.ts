import { ToolFault } from '../../contract/faults.ts';
import type { Tool } from '../../contract/tool.ts';
import { defineToolkit, type ToolkitHost } from '../../contract/toolkit.ts';
import type { XApi } from './client/api.ts';
import * as config from './config.ts';
import { withDbFaults } from './lib/db-faults.ts';
import type { XServices, XSettings } from './services.ts';
import { approveAll } from './tools/approve-all.ts';
import { approveItem } from './tools/approve-item.ts';
import { getCapabilities } from './tools/get-capabilities.ts';
import { getConfig } from './tools/get-config.ts';
import { getMcpErrorBreakdown } from './tools/get-mcp-error-breakdown.ts';
import { getMcpToolMetrics } from './tools/get-mcp-tool-metrics.ts';
import { getMode } from './tools/get-mode.ts';
import { getMutationDetail } from './tools/get-mutation-detail.ts';
import { getPendingCount } from './tools/get-pending-count.ts';
import { getPolicyStatus } from './tools/get-policy-status.ts';
import { getRateLimits } from './tools/get-rate-limits.ts';
import { getRecentMutations } from './tools/get-recent-mutations.ts';
import { healthCheck } from './tools/health-check.ts';
import { listPendingApprovals } from './tools/list-pending-approvals.ts';
import { rejectItem } from './tools/reject-item.ts';
import { validateConfig } from './tools/validate-config.ts';

const tools: readonly Tool<XServices>[] = [
  approveAll,
  approveItem,
  getCapabilities,
  getConfig,
  getMcpErrorBreakdown,
  getMcpToolMetrics,
  getMode,
  getMutationDetail,
  getPendingCount,
  getPolicyStatus,
  getRateLimits,
  getRecentMutations,
  healthCheck,
  listPendingApprovals,
  rejectItem,
  validateConfig,
];

export const toolkit = defineToolkit<XServices>({
  id: 'x',
  title: 'X',
  dialect: 'tuitbot',
  tools,
  connect: async (host) => connect(host),
});

function connect(host: ToolkitHost): XServices {
  let opened: Promise<XApi> | undefined;
  return {
    x: () => {
      opened ??= openX().catch((error: unknown) => {
        // A failed attempt is not kept: the person may sign in while the server runs.
        opened = undefined;
        throw error;
      });
      return opened;
    },
    settings: readSettings(host),
    kernel: {
      ...host.kernel,
      approvals: withDbFaults(host.kernel.approvals),
      telemetry: withDbFaults(host.kernel.telemetry),
      policy: withDbFaults(host.kernel.policy),
    },
    log: host.log,
    stance: () => ({ mode: host.mode, approvalMode: host.approvalMode }),
    undoOf: (name, args, data) => tools.find((tool) => tool.name === name)?.rollback?.(args, data),
  };
}

const readSettings = (host: ToolkitHost): XSettings => ({
  xApi: host.section(config.xApi),
  business: host.section(config.business),
  scoring: host.section(config.scoring),
  limits: host.section(config.limits),
  intervals: host.section(config.intervals),
  llm: host.section(config.llm),
  targets: host.section(config.targets),
  schedule: host.section(config.schedule),
  circuitBreaker: host.section(config.circuitBreaker),
});

function openX(): Promise<XApi> {
  return Promise.reject(new ToolFault('x_not_configured', 'The X client is not available in this build.'));
}
