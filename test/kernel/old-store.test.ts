import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStorage } from '../../src/app/open-storage.ts';
import { checkProof, prepareEntry } from '../../src/kernel/log/index.ts';
import { proveCall } from '../../src/kernel/log/proof/prove.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import { writeWithEvidence } from '../../src/kernel/log/write.ts';
import { openStorageReadOnly } from '../../src/storage/open.ts';

const ENTRIES = 281;

/** Written by version 0.1.0: 95 changes, 90 reads and two checkpoints, with every node of the tree stored. */
describe('a database of version 0.1.0', () => {
  let folder: string;
  let url: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-old-'));
    url = join(folder, 'countersign.db');
    writeFileSync(url, gunzipSync(readFileSync(new URL('../fixtures/store-0.1.db.gz', import.meta.url))));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is verified as it is, without being migrated', async () => {
    const database = await openStorageReadOnly({ url });
    expect(await verifyLog(database, { rows: true })).toMatchObject({
      ok: true,
      problems: [],
      size: ENTRIES,
    });
    await database.close();
  });

  it('is migrated, verified, proven from and written on', async () => {
    const database = await openStorage({ url });
    expect(await verifyLog(database, { rows: true })).toMatchObject({
      ok: true,
      problems: [],
      size: ENTRIES,
    });
    const nodes = await database.db.selectFrom('audit_nodes').select(['level', 'idx']).execute();
    expect(nodes).toMatchObject([{ level: 8, idx: 0 }]);
    const rows = await database.db
      .selectFrom('audit_log')
      .select('call_id')
      .where('seq', 'in', [0, 1, 100, 200, 255, 256, 265])
      .execute();
    expect(rows).toHaveLength(7);
    for (const { call_id } of rows) {
      if (call_id === null) continue;
      expect(checkProof(await proveCall(database, undefined, call_id))).toMatchObject({ ok: true });
    }
    for (let index = 0; index < 300; index += 1)
      await writeWithEvidence(database, async ({ append }) =>
        append(prepareEntry({ kind: 'config', at: new Date().toISOString(), principal: 'person:ada' })),
      );
    expect(await verifyLog(database, { rows: true })).toMatchObject({ ok: true, problems: [], size: 581 });
    await database.close();
  });
});
