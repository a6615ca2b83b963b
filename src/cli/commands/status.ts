import { existsSync } from 'node:fs';
import type { App } from '../../app/app.ts';
import type { GlobalOptions, StatusLine } from '../../contract/command.ts';
import type { JsonObject } from '../../contract/json.ts';
import { describeDamaged, isDamaged, isReadable } from '../../contract/ports.ts';
import { describeRequester } from '../../contract/principal.ts';
import { outdatedServer, runningServer, serverEvidenceProblem } from '../../daemon/running-server.ts';
import { findForged } from '../../kernel/approvals/genuine.ts';
import { findEvidenceProblem } from '../../kernel/health.ts';
import { describeKeyMismatch, findKeyMismatch } from '../../kernel/log/signing/key-mismatch.ts';
import { isObject } from '../../lib/is-object.ts';
import { VERSION } from '../../lib/log.ts';
import { paint } from '../../terminal/color.ts';
import { print, printJson, table } from '../../terminal/output.ts';
import { age, counted } from '../../terminal/text.ts';
import { toolkitEntries } from '../../toolkits/index.generated.ts';
import { describeListed } from '../approval-json.ts';
import { commandApp } from '../command-host.ts';
import { withApp } from '../context.ts';

/** What runs, what waits and what needs a person, on one screen. */
export function status(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const { kernel, config, database, now } = app;
    const waiting = await kernel.approvals.page({
      states: ['pending'],
      order: 'oldest',
      limit: 5,
      fresh: true,
    });
    const forgedRows = await findForged(database, waiting.filter(isReadable));
    const count = await kernel.approvals.count({ states: ['pending'] });
    const unsettled = await kernel.telemetry.calls({ statuses: ['indeterminate'], limit: 5 });
    const paused = await kernel.isPaused();
    const pausedAgents = [...(await kernel.agents.paused()).keys()];
    const running = await runningServer(app);
    const outdated = running && (await outdatedServer(app));
    const limits = (await app.ports.policy.limits()).filter(({ used }) => used > 0);
    const health = await app.ports.health.check();
    const unreadable = readProblem(health);
    const unwritable =
      (await findEvidenceProblem(database)) ?? (running && (await serverEvidenceProblem(running)));
    const forged = app.policy.problem;
    const mismatch = await findKeyMismatch(database, config.dataDir);
    // Scripts watch the exit code: a database that cannot be read is not a state to report and pass over.
    if (health.status !== 'ok' || unwritable !== undefined || forged !== undefined) process.exitCode = 1;
    const lines = await toolkitLines(app, global);
    if (global.json) {
      return printJson({
        version: VERSION,
        config: config.path,
        data_dir: config.dataDir,
        engine: database.engine,
        server: running,
        mode: config.mode,
        approval_mode: config.approvalMode,
        toolkits: config.toolkits,
        profile: config.profile,
        paused,
        paused_agents: pausedAgents,
        pending: count,
        indeterminate: unsettled.map(({ callId, tool }) => ({ call_id: callId, tool })),
        limits,
        health,
        evidence_problem: unwritable ?? null,
        policy_problem: forged ?? null,
        key_problem: mismatch === undefined ? null : describeKeyMismatch(mismatch),
        ...Object.fromEntries(lines.map(({ id, data }) => [id, data])),
      });
    }
    print(paint('bold', `Countersign ${VERSION}`));
    print(
      `Configuration  ${existsSync(config.path) ? config.path : `using defaults (no file at ${config.path})`}`,
    );
    print(
      `Database       ${database.engine === 'sqlite' ? config.storageUrl : 'PostgreSQL'} (${unreadable === undefined ? counted(Number(health.evidence_entries), 'audit log entry', 'audit log entries') : `${paint('red', 'FAILED')}: its audit log cannot be read. ${unreadable}`})`,
    );
    print(
      `Server         ${running ? `running at ${running}` : 'not running (start it with `countersign up`)'}`,
    );
    if (outdated) print(`               ${outdated}`);
    if (unwritable !== undefined)
      print(`Evidence       ${paint('red', 'FAILED')}: it cannot be written. ${unwritable}`);
    if (forged !== undefined) print(`Policy         ${paint('red', 'FAILED')}: ${forged}`);
    if (mismatch !== undefined)
      print(`Signing key    ${paint('yellow', 'WARNING')}: ${describeKeyMismatch(mismatch)}`);
    print(
      `Mode           ${config.mode}${config.approvalMode ? ', approval mode on' : ''}${paused ? `, ${paint('yellow', 'PAUSED')} (lift with \`countersign resume\`)` : ''}`,
    );
    if (pausedAgents.length > 0)
      print(
        `Agents         ${paint('yellow', 'PAUSED')}: ${pausedAgents.join(', ')} (lift with \`countersign agents resume NAME\`)`,
      );
    print(`Toolkits       ${config.toolkits.join(', ')} (profile ${config.profile})`);
    for (const { label, text } of lines) print(`${label.padEnd(14)} ${text}`);
    for (const limit of limits)
      print(
        `Limit          ${limit.key}: ${limit.used} of ${limit.max}, resets ${limit.resetAt.toISOString()}`,
      );
    if (unsettled.length > 0) {
      print(
        `\n${paint('yellow', 'Outcome unknown.')} Check the target of each change, then run \`countersign approvals settle CALL --happened\` or \`--not-happened\`:`,
      );
      for (const one of unsettled) print(`  ${one.callId}  ${one.tool}  ${one.at.toISOString()}`);
    }
    print(count === 0 ? '\nNo pending approvals.' : `\n${counted(count, 'pending approval')}:`);
    if (count > 0)
      print(
        table(
          ['ID', 'AGE', 'REQUESTER', 'ACTION'],
          waiting.map((one) =>
            isDamaged(one)
              ? [String(one.id), '', '', describeDamaged(one)]
              : [
                  String(one.id),
                  age(one.createdAt, now()),
                  describeRequester(one.requester),
                  describeListed(one, forgedRows),
                ],
          ),
          70,
        ),
      );
  });
}

/** Why the database could not be read; undefined when it could. */
const readProblem = ({ database }: JsonObject): string | undefined =>
  isObject(database) && typeof database.message === 'string' ? database.message : undefined;

async function toolkitLines(app: App, global: GlobalOptions): Promise<(StatusLine & { id: string })[]> {
  const lines: (StatusLine & { id: string })[] = [];
  for (const { id, commands } of toolkitEntries) {
    if (!commands?.status || !app.config.toolkits.includes(id)) continue;
    lines.push({ id, ...(await commands.status(commandApp(app, id, global))) });
  }
  return lines;
}
