import type { Migration } from '../contract/migration.ts';
import { hasSigningKey } from '../kernel/log/signing/key-file.ts';
import type { Database } from '../kernel/store/database.ts';
import { openStorage as open } from '../storage/open.ts';
import { toolkitEntries } from '../toolkits/index.generated.ts';

/** Opens the database with the schema of the core and of every toolkit of this build, plus `extra`. */
export const openStorage = ({
  url,
  dataDir,
  extra = [],
}: {
  readonly url: string;
  /** Holds the signing key, if there is one: then the database cannot be new. */
  readonly dataDir?: string;
  readonly extra?: readonly Migration[];
}): Promise<Database> =>
  open({
    url,
    hasKey: () => dataDir !== undefined && hasSigningKey(dataDir),
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
