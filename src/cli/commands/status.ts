import { existsSync } from 'node:fs';
import { principalName } from '../../contract/principal.ts';
import { VERSION } from '../../lib/version.ts';
import { assistantLine, assistantState } from '../assistant-state.ts';
import { type GlobalOptions, withApp } from '../context.ts';
import { print, printJson, table } from '../output.ts';
import { outdatedServer, runningServer } from '../running-server.ts';
import { age } from '../text.ts';

/** What runs, what waits and what needs a person, on one screen. */
export function status(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const { kernel, config, database, now } = app;
    const waiting = await kernel.approvals.list({ states: ['pending'], order: 'oldest', limit: 5 });
    const count = await kernel.approvals.count({ states: ['pending'] });
    const unsettled = await kernel.telemetry.calls({ statuses: ['indeterminate'], limit: 5 });
    const paused = await kernel.isPaused();
    const running = await runningServer(app);
    const outdated = running && (await outdatedServer(app));
    const limits = (await app.ports.policy.limits()).filter(({ used }) => used > 0);
    const health = await app.ports.health.check();
    const assistant = await assistantState(app, false);
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
        pending: count,
        indeterminate: unsettled.map(({ callId, tool }) => ({ call_id: callId, tool })),
        limits,
        health,
        ...(assistant ? { assistant } : {}),
      });
    }
    print(`Countersign ${VERSION}`);
    print(`Configuration  ${existsSync(config.path) ? config.path : `defaults (no ${config.path})`}`);
    print(
      `Store          ${database.engine === 'sqlite' ? config.storageUrl : 'PostgreSQL'} (${health.evidence_entries} log entries)`,
    );
    print(
      `Server         ${running ? `running at ${running}` : 'not running; start it with `countersign up`'}`,
    );
    if (outdated) print(`               ${outdated}`);
    print(
      `Mode           ${config.mode}${config.approvalMode ? ', approval mode on' : ''}${paused ? ', PAUSED (countersign resume)' : ''}`,
    );
    print(`Toolkits       ${config.toolkits.join(', ')} (profile ${config.profile})`);
    if (assistant) print(`Assistant      ${assistantLine(assistant)}`);
    for (const limit of limits)
      print(
        `Limit          ${limit.key}: ${limit.used} of ${limit.max}, resets ${limit.resetAt.toISOString()}`,
      );
    if (unsettled.length > 0) {
      print(
        '\nNot known whether these changes happened; look and settle with `countersign approvals settle CALL`:',
      );
      for (const one of unsettled) print(`  ${one.callId}  ${one.tool}  ${one.at.toISOString()}`);
    }
    print(count === 0 ? '\nNothing is waiting for you.' : `\n${count} waiting for you:`);
    if (count > 0)
      print(
        table(
          ['ID', 'AGE', 'ASKED BY', 'WHAT WILL HAPPEN'],
          waiting.map((one) => [
            String(one.id),
            age(one.createdAt, now()),
            principalName(one.requester),
            one.summary,
          ]),
          70,
        ),
      );
  });
}
