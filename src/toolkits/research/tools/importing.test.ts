import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportCodebook } from '../exchange/codebook.ts';
import { exportQdpx } from '../exchange/export-qdpx.ts';
import { ADA, openWithProject } from '../test/support/kernel.ts';
import { dumpDatabase } from '../test/support/qualcoder.ts';

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
      coding_count: 0,
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

  it('lets other calls be answered while a large project is read and added', async () => {
    const { store } = await (await world.services()).projects.current();
    await store.write({ callId: 'c', tool: 't', owner: 'ada', principal: 'person:ada' }, (writer) => {
      const text = 'We waited for the letter and nobody answered the telephone. '.repeat(100);
      for (let source = 0; source < 30; source += 1) {
        const sourceId = writer.addSource({ name: `long ${source}.txt`, text });
        for (let start = 0; start < 50; start += 1)
          writer.addCoding({ codeId: 1, sourceId, start, end: start + 60, memo: 'why' });
      }
    });
    const qdpx = join(world.dir, 'large.qdpx');
    await exportQdpx(store, qdpx);
    await world.data('create_project', { path: join(world.dir, 'fresh') }, asAda);

    let step = '';
    const answeredIn = new Set<string>();
    const counts = new Set<number>();
    const importing = world.data(
      'import_files',
      { paths: [qdpx] },
      {
        ...asAda,
        onProgress: ({ message, done }) => {
          step = `${message} ${done}`;
        },
      },
    );
    let isDone = false;
    void importing.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      const asked = step;
      const { sources } = await world.data<{ sources: object[] }>('list_sources');
      await nextTurn();
      // Only an answer within the step it was asked in shows that the step did not stand in its way.
      if (asked === step) answeredIn.add(step);
      counts.add(sources.length);
    }
    expect(await importing).toMatchObject({ source_count: 34 });
    expect([...answeredIn]).toContain('Reading the project file 0');
    const adding = [...answeredIn].filter((name) => name.startsWith('Adding to the project'));
    expect(adding.length).toBeGreaterThan(2);
    // Others see the project as it was until all is there.
    expect([...counts].filter((count) => count !== 0 && count !== 34)).toEqual([]);
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
