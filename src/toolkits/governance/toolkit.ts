import { defineToolkit } from '../../contract/toolkit.ts';
import { approvalGet, approvalRequest, auditGet, type GovernanceServices } from './tools.ts';

export const toolkit = defineToolkit<GovernanceServices>({
  id: 'governance',
  title: 'Governance',
  tools: [approvalRequest, approvalGet, auditGet],
  connect: async ({ kernel: { approvals, audit, telemetry } }) => ({ approvals, audit, telemetry }),
});
