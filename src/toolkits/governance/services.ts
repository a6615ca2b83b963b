import type { ApprovalsPort, AuditPort } from '../../contract/ports.ts';
import { toolFactory } from '../../contract/tool.ts';

/** What the governance tools may use: the queue and the log, nothing that acts. */
export interface GovernanceServices {
  readonly approvals: ApprovalsPort;
  readonly audit: AuditPort;
}

export const defineGovernanceTool = toolFactory<GovernanceServices>();
