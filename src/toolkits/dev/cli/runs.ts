import type { CommandHost } from '../../../contract/command.ts';
import type { CallRecord } from '../../../contract/ports.ts';
import { print, printJson, table } from '../../../terminal/output.ts';
import { limitOf, oneLine, plainText } from '../../../terminal/text.ts';
import { views } from '../views.ts';

export function listRuns(host: CommandHost, options: { repo?: string; limit?: string }): Promise<void> {
  return host.open(async (app) => {
    const { runs } = await app.view(views, 'runs', {
      repo: options.repo,
      limit: limitOf(options.limit),
    });
    if (host.options.json) return printJson(runs);
    if (runs.length === 0) return print('No runs yet. An agent starts one with runs_create.');
    print(
      table(
        ['RUN', 'REPOSITORY', 'STARTED', 'BRANCH', 'PURPOSE'],
        runs.map((run) => [
          run.run_id,
          run.repo,
          minute(run.created_at),
          run.head_branch ?? '',
          oneLine(run.purpose, 60),
        ]),
      ),
    );
  });
}

/** One run with every call made in it, refusals included. */
export function showRun(host: CommandHost, id: string): Promise<void> {
  return host.open(async (app) => {
    const run = await app.view(views, 'run', { run_id: id });
    const calls = [...(await app.kernel.telemetry.calls({ runId: id, limit: 500 }))].reverse();
    if (host.options.json)
      return printJson({
        ...run,
        calls: calls.map((call) => ({ ...call, audit_status: auditStatus(call) })),
      });
    print(`Run         ${run.run_id}`);
    print(`Repository  ${run.repo}`);
    print(`Purpose     ${oneLine(run.purpose, 500)}`);
    print(`Started     ${run.created_at}`);
    print(
      `Branch      ${run.head_branch ? `${run.head_branch} at ${run.head_commit?.slice(0, 12)}` : 'none yet'}`,
    );
    print('');
    print(
      calls.length === 0
        ? 'No calls yet.'
        : table(
            ['AT', 'TOOL', 'BY', 'STATUS', 'APPROVAL', 'CALL'],
            calls.map((call) => [
              minute(call.at.toISOString()),
              call.tool,
              call.principal,
              call.code ? `${call.status} (${call.code})` : call.status,
              call.approvalId === undefined ? '' : String(call.approvalId),
              call.callId,
            ]),
          ),
    );
    print(`\nTo export the evidence: countersign audit export --run ${run.run_id} -o FILE`);
  });
}

/** ToolHub's two words: it worked, or it did not. */
const auditStatus = ({ status }: CallRecord): 'ok' | 'fail' =>
  status === 'ok' || status === 'dry_run' ? 'ok' : 'fail';

export function listRepos(host: CommandHost): Promise<void> {
  return host.open(async (app) => {
    const { repos } = await app.view(views, 'places');
    if (host.options.json) return printJson(repos);
    if (repos.length === 0)
      return print(
        `No repositories. Run this in a clone, or register one in ${app.kernel.config.path}:\n\n[dev.repos.NAME]\npath = "/path/to/clone"`,
      );
    print(
      table(
        ['NAME', 'FORGE', 'CLONE'],
        repos.map(({ name, forge, github, path }) => [
          plainText(name),
          forge === 'github' ? plainText(`github ${github ?? ''}`) : forge,
          plainText(path ?? ''),
        ]),
        100,
      ),
    );
    const broken = repos.filter(({ problem }) => problem !== undefined);
    if (broken.length > 0) print('');
    for (const { name, problem } of broken) print(plainText(`Cannot use ${name}: ${problem}`));
  });
}

export const minute = (iso: string): string => iso.slice(0, 16).replace('T', ' ');
