import { defineToolkit } from '../../contract/toolkit.ts';
import type { GovernanceServices } from './services.ts';
import { approvalGet } from './tools/approval-get.ts';
import { approvalRequest } from './tools/approval-request.ts';
import { auditGet } from './tools/audit-get.ts';

export const toolkit = defineToolkit<GovernanceServices>({
  id: 'governance',
  title: 'Governance',
  dialect: 'plain',
  tools: [approvalRequest, approvalGet, auditGet],
  connect: async ({ kernel }) => ({ approvals: kernel.approvals, audit: kernel.audit }),
});
