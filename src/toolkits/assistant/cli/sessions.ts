import { existsSync } from 'node:fs';
import { CliError, type CommandHost } from '../../../contract/command.ts';
import { print, printJson } from '../../../terminal/output.ts';
import { BAD_ACTIVE, parseActive, sessionsReport, sessionsText } from '../sessions/report.ts';
import { Sessions } from '../sessions/sessions.ts';
import type { AssistantTables } from '../sessions/tables.ts';

interface SessionsOptions {
  readonly active?: string;
  readonly store?: string;
}

/** The assistant's conversations. `--store file` is the store in use; a path is another SQLite file. */
export async function sessions(host: CommandHost, options: SessionsOptions): Promise<void> {
  const activeMinutes = options.active === undefined ? undefined : parseActive(options.active);
  if (options.active !== undefined && activeMinutes === undefined) throw new CliError(BAD_ACTIVE);
  const other = options.store !== undefined && options.store !== 'file' ? options.store : undefined;
  if (other !== undefined && !existsSync(other)) throw new CliError(`Database ${other} not found.`);
  await host.open(
    async ({ db, databaseFile, now }) => {
      const report = await sessionsReport(new Sessions(db<AssistantTables>(), now), {
        path: databaseFile ?? 'postgres',
        activeMinutes,
        now: now(),
      });
      if (host.options.json) printJson(report);
      else print(sessionsText(report));
    },
    { databaseFile: other },
  );
}
