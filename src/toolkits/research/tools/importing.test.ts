import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dumpDatabase } from '../../../../test/support/qualcoder.ts';
import { ADA, openWithProject } from '../../../../test/support/research-kernel.ts';
import { exportCodebook } from '../exchange/codebook.ts';
import { exportQdpx } from '../exchange/export-qdpx.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
beforeEach(async () => {
  world = await openWithProject();
});
afterEach(() => world.close());

const asAda = { principal: ADA };
const file = (name: string, body: string) => {
  const path = join(world.dir, name);
  writeFileSync(path, body);
  return path;
};

describe('import_files', () => {
  it('adds documents with their originals, all or nothing, and can be undone', async () => {
    const before = dumpDatabase(world.file);
    const paths = [file('a.txt', 'Alpha\r\ntext'), file('b.md', '# Beta')];
    expect(await world.data('import_files', { paths }, asAda)).toMatchObject({
      source_count: 2,
      sources: [{ name: 'a.txt' }, { name: 'b.md' }],
      code_count: 0,
    });
    expect(existsSync(join(world.path, 'documents', 'a.txt'))).toBe(true);
    const { store } = await (await world.services()).projects.current();
    expect(store.source(5)).toMatchObject({ owner: 'ada', mediaPath: '/docs/a.txt' });
    await world.data('undo_change', {}, asAda);
    expect(dumpDatabase(world.file)).toEqual(before);

    const missing = [...paths, join(world.dir, 'none.txt')];
    expect(await world.fault('import_files', { paths: missing }, asAda)).toBe('file_read_error');
    expect(dumpDatabase(world.file)).toEqual(before);
    // The originals of the undone import are still there and are taken up again.
    expect(await world.data('import_files', { paths }, asAda)).toMatchObject({ source_count: 2 });
  });

  it('adds another project and a codebook in the exchange formats', async () => {
    const { store } = await (await world.services()).projects.current();
    const qdpx = join(world.dir, 'out.qdpx');
    await exportQdpx(store, qdpx);
    const qdc = file('codes.qdc', exportCodebook(store).xml);
    await world.data('create_project', { path: join(world.dir, 'fresh') }, asAda);
    expect(await world.data('import_files', { paths: [qdc] }, asAda)).toMatchObject({
      code_count: 3,
      source_count: 0,
    });
    expect(await world.data('import_files', { paths: [qdpx] }, asAda)).toMatchObject({ source_count: 4 });
    expect(await world.data('list_codes')).toHaveLength(3);
    expect(await world.data<object[]>('list_segments_for_source', { source_id: 1 })).toHaveLength(3);
  });

  it('is for people, and for absolute paths', async () => {
    expect(await world.fault('import_files', { paths: [file('a.txt', 'x')] })).toBe(
      'policy_denied_hard_rule',
    );
    expect(await world.fault('import_files', { paths: ['a.txt'] }, asAda)).toBe('validation_error');
    expect(await world.fault('import_files', { paths: ['/a.qdpx', '/b.qdpx'] }, asAda)).toBe(
      'validation_error',
    );
  });
});
