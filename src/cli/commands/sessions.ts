import { existsSync } from 'node:fs';
import type { Kysely } from 'kysely';
import {
  BAD_ACTIVE,
  parseActive,
  sessionsReport,
  sessionsText,
} from '../../toolkits/assistant/sessions/report.ts';
import { Sessions } from '../../toolkits/assistant/sessions/sessions.ts';
import type { AssistantTables } from '../../toolkits/assistant/sessions/tables.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print, printJson } from '../output.ts';

interface SessionsOptions {
  readonly active?: string;
  readonly store?: string;
}

/** The assistant's conversations. `--store file` is the store in use; a path is another SQLite file. */
export async function sessions(global: GlobalOptions, options: SessionsOptions): Promise<void> {
  const activeMinutes = options.active === undefined ? undefined : parseActive(options.active);
  if (options.active !== undefined && activeMinutes === undefined) throw new CliError(BAD_ACTIVE);
  const other = options.store !== undefined && options.store !== 'file' ? options.store : undefined;
  if (other !== undefined && !existsSync(other)) throw new CliError(`There is no store at ${other}.`);
  await withApp(
    global,
    async ({ database, config, now }) => {
      const path = database.engine === 'sqlite' ? config.storageUrl : 'postgres';
      const report = await sessionsReport(
        new Sessions(database.db as unknown as Kysely<AssistantTables>, now),
        { path, activeMinutes, now: now() },
      );
      if (global.json) printJson(report);
      else print(sessionsText(report));
    },
    other === undefined ? {} : { flags: { 'storage.url': other } },
  );
}
