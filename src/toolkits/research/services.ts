import type { ApprovalsPort, AuditPort, EventsPort, Log, TelemetryPort } from '../../contract/ports.ts';
import { toolFactory } from '../../contract/tool.ts';
import type { ToolkitHost } from '../../contract/toolkit.ts';
import { AnalysisPool, SourceReader } from './background.ts';
import { type ResearchConfig, research } from './config.ts';
import { PrivacyStore } from './privacy/rules.ts';
import { withoutPrivateParts } from './project/memo.ts';
import { Projects } from './project/projects.ts';
import { BatchStore } from './suggestions/decide.ts';
import { SuggestionMemory } from './suggestions/memory.ts';
import type { ResearchTables } from './tables.ts';

/** What the tools of this kit may use. */
export interface ResearchServices {
  readonly projects: Projects;
  readonly privacy: PrivacyStore;
  readonly batches: BatchStore;
  readonly suggestions: SuggestionMemory;
  readonly analysis: AnalysisPool;
  readonly reading: SourceReader;
  readonly approvals: ApprovalsPort;
  readonly telemetry: TelemetryPort;
  readonly events: EventsPort;
  readonly audit: AuditPort;
  readonly config: ResearchConfig;
  readonly log: Log;
  now(): Date;
}

const define = toolFactory<ResearchServices>();

/** The researcher's own part of a memo stays out of the log too, no matter who makes the call. */
export const defineResearchTool: typeof define = (spec) =>
  define({ ...spec, forEvidence: withoutPrivateParts });

export function connectResearch(host: ToolkitHost): ResearchServices {
  const config = host.section(research);
  const db = host.db<ResearchTables>();
  const now = () => host.now();
  const projects = new Projects({
    db,
    dataDir: host.dataDir,
    configured: config.project,
    backupsKept: config.backups_kept,
    log: host.log,
    now,
    changed(project, tool) {
      host.kernel.events.publish('research.changed', { project, tool }).catch((error: unknown) => {
        host.log.debug('open pages could not be notified of a change', { error: String(error) });
      });
    },
  });
  const privacy = new PrivacyStore(db, now);
  const analysis = new AnalysisPool(config, projects, privacy);
  const { leases } = host.kernel;
  return {
    projects,
    analysis,
    privacy,
    reading: new SourceReader({ ai: config.ai, projects, privacy, analysis, leases, log: host.log }),
    batches: new BatchStore(db, now),
    suggestions: new SuggestionMemory(host.kernel.approvals),
    approvals: host.kernel.approvals,
    telemetry: host.kernel.telemetry,
    events: host.kernel.events,
    audit: host.kernel.audit,
    config,
    log: host.log,
    now,
  };
}
