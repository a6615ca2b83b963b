import { z } from 'zod';
import { CliError, type CommandApp, type CommandHost } from '../../../contract/command.ts';
import type { CallDetail, CallRecord } from '../../../contract/ports.ts';
import { print, printJson, table } from '../../../terminal/output.ts';
import { limitOf, oneLine, plainText } from '../../../terminal/text.ts';
import type { StoredReport } from '../qa/runner.ts';
import { minute } from './runs.ts';

interface Found {
  readonly call: CallRecord;
  readonly summary: string;
  /** The summary without the status in it, for a place that shows the status itself. */
  readonly detail: string;
  readonly status: string;
  readonly commit: string | undefined;
  readonly reportId: string | undefined;
}

/** What tests and linters said, newest first. */
export function listReports(host: CommandHost, options: { run?: string; limit?: string }): Promise<void> {
  return host.open(async (app) => {
    const limit = limitOf(options.limit) ?? 20;
    const found = await findReports(app, limit, options.run);
    if (host.options.json)
      return printJson(
        found.map(({ call, status, summary, reportId }) => ({
          call_id: call.callId,
          run_id: call.runId ?? null,
          tool: call.tool,
          at: call.at.toISOString(),
          status,
          summary,
          report_artifact_id: reportId ?? null,
        })),
      );
    if (found.length === 0) return print('No reports yet. Agents create them with qa_test and qa_lint.');
    print(
      table(
        ['AT', 'TOOL', 'STATUS', 'SUMMARY', 'RUN', 'CALL'],
        found.map(({ call, status, detail }) => [
          minute(call.at.toISOString()),
          call.tool,
          status,
          oneLine(detail, 50),
          call.runId ?? '',
          call.callId,
        ]),
      ),
    );
    print('\nView: countersign dev report CALL');
  });
}

/** Finds the latest report of each QA tool on one commit, for the person who decides. */
export async function checksOf(app: CommandApp, commit: string) {
  const onIt = (await findReports(app, 100)).filter((found) => found.commit === commit);
  return ['qa_test', 'qa_lint'].flatMap((tool) => {
    const last = onIt.find(({ call }) => call.tool === tool);
    if (!last) return [];
    const { call, status, summary, detail } = last;
    return [{ tool, status, summary, detail, call_id: call.callId }];
  });
}

async function findReports(app: CommandApp, limit: number, runId?: string): Promise<Found[]> {
  const { telemetry } = app.kernel;
  const both = await Promise.all(
    ['qa_test', 'qa_lint'].map((tool) => telemetry.calls({ tool, runId, limit })),
  );
  const calls = both
    .flat()
    .sort((a, b) => b.at.getTime() - a.at.getTime())
    .slice(0, limit);
  const details = await Promise.all(calls.map(({ callId }) => telemetry.call(callId)));
  return details.flatMap((call) => (call ? [reportOf(call)] : []));
}

/** One report with what the command wrote. */
export function showReport(host: CommandHost, callId: string): Promise<void> {
  return host.open(async (app) => {
    const call = await app.kernel.telemetry.call(callId);
    if (!call || (call.tool !== 'qa_test' && call.tool !== 'qa_lint'))
      throw new CliError(`Call ${callId} has no report. Run \`countersign dev reports\` to list reports.`);
    const found = reportOf(call);
    const bytes = found.reportId ? await app.kernel.artifacts.read(found.reportId) : undefined;
    if (!bytes)
      throw new CliError(`Call ${callId} produced no report (${found.status}). ${plainText(found.summary)}`);
    const report: StoredReport = JSON.parse(new TextDecoder().decode(bytes));
    if (host.options.json) return printJson(report);
    print(`${report.tool}: ${report.status} (exit code ${report.exit_code}, ${report.duration_ms} ms)`);
    print(`Command  ${plainText(report.command)}${report.phase === 'setup' ? ' (setup)' : ''}`);
    print(`Commit   ${report.commit}`);
    print(`Tree     ${report.tree}`);
    print(`Sandbox  ${report.sandbox === 'none' ? 'none; it ran with your permissions' : report.sandbox}`);
    if (report.stdout) print(`\n${plainText(report.stdout.trimEnd())}`);
    if (report.stderr) print(`\nstderr\n${plainText(report.stderr.trimEnd())}`);
  });
}

const kept = z.object({
  data: z
    .object({
      status: z.string(),
      summary: z.string(),
      report: z.object({ commit: z.string(), exit_code: z.int(), duration_ms: z.number() }).optional(),
      error: z.object({ message: z.string() }).optional(),
    })
    .optional(),
  notes: z.object({ qa_artifacts: z.object({ report_artifact_id: z.string() }).optional() }).optional(),
  message: z.string().optional(),
});

/** A call that was refused or erased has no report; its own status stands for it. */
function reportOf(call: CallDetail): Found {
  const result = kept.safeParse(call.result).data;
  const status = result?.data?.status ?? call.status;
  const summary = result?.data?.error?.message ?? result?.data?.summary ?? result?.message ?? '';
  const report = result?.data?.report;
  const ended = report && (status === 'pass' || status === 'fail');
  return {
    call,
    status,
    summary,
    detail: ended ? `exit code ${report.exit_code}, ${report.duration_ms} ms` : summary,
    commit: report?.commit,
    reportId: result?.notes?.qa_artifacts?.report_artifact_id,
  };
}
