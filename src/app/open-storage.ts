import type { Migration } from '../contract/migration.ts';
import { hasSigningKey } from '../kernel/log/signing/key-file.ts';
import { findKeyMismatch } from '../kernel/log/signing/key-mismatch.ts';
import type { Database } from '../kernel/store/database.ts';
import { openStorage as open } from '../storage/open.ts';
import { StoreError } from '../storage/store-error.ts';
import { toolkitEntries } from '../toolkits/index.generated.ts';

/** Opens the database with the schema of the core and of every toolkit of this build, plus `extra`. */
export const openStorage = ({
  url,
  dataDir,
  extra = [],
}: {
  readonly url: string;
  /** Holds the signing key, if there is one: then the database must be the one it signed. */
  readonly dataDir?: string;
  readonly extra?: readonly Migration[];
}): Promise<Database> =>
  open({
    url,
    hasKey: () => dataDir !== undefined && hasSigningKey(dataDir),
    inspect: (database) =>
      dataDir === undefined || url === ':memory:' ? Promise.resolve() : refuseOther(database, url, dataDir),
    migrations: {
      names: [
        ...toolkitEntries.flatMap(({ migrationNames }) => migrationNames),
        ...extra.map(({ name }) => name),
      ],
      load: async () => [
        ...(await Promise.all(toolkitEntries.map((entry) => entry.migrations()))).flat(),
        ...extra,
      ],
    },
  });

/**
 * A file that was put in place of ours must not get our signatures. Several servers share a PostgreSQL database, and
 * one that joins may bring its key: there status and doctor warn instead.
 */
async function refuseOther(database: Database, url: string, dataDir: string): Promise<void> {
  if (database.engine === 'postgres') return;
  const mismatch = await findKeyMismatch(database, dataDir);
  if (mismatch === undefined) return;
  const what =
    mismatch === 'empty'
      ? `has no audit log entries, but the data directory has the signing key of an audit log`
      : `has the audit log of another installation: the signing key in the data directory never signed it`;
  const goOn = mismatch === 'empty' ? 'to start a new log' : 'to continue this log with a new key';
  throw new StoreError(
    `The database ${url} ${what}. Restore a backup with \`countersign restore FOLDER --force\`, correct storage.url, or move audit-key.pem away ${goOn}.`,
  );
}
