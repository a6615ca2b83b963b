import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dumpDatabase, makeQualCoderProject } from '../test/support/qualcoder.ts';
import { byAgent, openBench, type ResearchBench } from '../test/support/research.ts';
import type { SqliteProject } from './store.ts';
import type { ProjectWriter } from './types.ts';

let bench: ResearchBench;
let project: SqliteProject;
let file: string;
beforeEach(async () => {
  bench = await openBench();
  const made = makeQualCoderProject(bench.dir, 16);
  file = made.file;
  project = bench.open(made.path);
});
afterEach(() => bench.close());

const lastChange = async () => (await project.journal.recent(1))[0]?.id ?? -1;

const CHANGES: readonly (readonly [string, (writer: ProjectWriter) => void])[] = [
  ['a new code', (w) => void w.addCode({ name: 'Hope', memo: 'm' })],
  ['a renamed code', (w) => w.updateCode(1, { name: 'Fear', color: '#000000', memo: 'new' })],
  ['a deleted code with its codings', (w) => void w.removeCode(1)],
  ['a merge', (w) => void w.mergeCodes(5, 1)],
  ['a merge that moves codings', (w) => void w.mergeCodes(1, 2)],
  ['a coding', (w) => void w.addCoding({ codeId: 1, sourceId: 1, start: 1, end: 9, memo: 'é😀' })],
  ['a removed coding', (w) => w.removeCoding(7)],
  ['a source with its attributes', (w) => void w.addSource({ name: 'n', text: 'text 😀' })],
  [
    'a new attribute of every file',
    (w) => w.addAttributeType({ name: 'Year', scope: 'file', valueType: 'numeric' }),
  ],
  [
    'a changed attribute',
    (w) => w.setAttribute({ name: 'Place', scope: 'file', targetId: 1, value: 'Bergen' }),
  ],
  ['a project memo', (w) => w.setProjectMemo('other')],
  [
    'many things at once',
    (w) => {
      const code = w.addCode({ name: 'X', parentId: 1 });
      const source = w.addSource({ name: 'n', text: 'abc' });
      w.addCoding({ codeId: code, sourceId: source, start: 0, end: 2 });
      w.removeCode(5);
    },
  ],
];

describe('undo', () => {
  it.each(CHANGES)(
    'puts the project back byte for byte after %s, and can be undone itself',
    async (_, work) => {
      const before = dumpDatabase(file);
      await project.write(byAgent(), work);
      const changed = dumpDatabase(file);
      expect(changed).not.toEqual(before);
      await project.undo(await lastChange(), byAgent('undo'));
      expect(dumpDatabase(file)).toEqual(before);
      await project.undo(await lastChange(), byAgent('undo'));
      expect(dumpDatabase(file)).toEqual(changed);
    },
  );

  it('refuses to take the same change back twice', async () => {
    await project.write(byAgent(), (writer) => writer.addCode({ name: 'Hope' }));
    const id = await lastChange();
    await project.undo(id, byAgent('undo'));
    await expect(project.undo(id, byAgent('undo'))).rejects.toThrow(/already undone/);
  });

  it('never undoes what a person did since: it refuses and changes nothing', async () => {
    const { id } = await project.write(byAgent(), (w) =>
      w.addCoding({ codeId: 1, sourceId: 1, start: 0, end: 3 }),
    );
    outside(`UPDATE code_text SET memo = 'mine' WHERE ctid = ${id}`);
    const before = dumpDatabase(file);
    await expect(project.undo(await lastChange(), byAgent('undo'))).rejects.toThrow(
      /no longer as the change left it/,
    );
    expect(dumpDatabase(file)).toEqual(before);
  });

  it('refuses to remove a code that has been used since', async () => {
    const id = await project.write(byAgent(), (writer) => writer.addCode({ name: 'Hope' }));
    outside(
      `INSERT INTO code_text (cid, fid, seltext, pos0, pos1, owner) VALUES (${id}, 1, 'Int', 0, 3, 'ada')`,
    );
    await expect(project.undo(await lastChange(), byAgent('undo'))).rejects.toThrow(
      /1 row\(s\) of code_text were added since/,
    );
    expect(project.code(id)).toBeDefined();
  });

  it('refuses to bring back codings of a source that is gone', async () => {
    await project.write(byAgent(), (writer) => writer.removeCoding(7));
    outside('DELETE FROM source WHERE id = 1');
    await expect(project.undo(await lastChange(), byAgent('undo'))).rejects.toThrow(
      /in source no longer exists/,
    );
  });
});

describe('the journal', () => {
  it('knows who made a coding, also in the middle of a batch', async () => {
    const by = byAgent('batch_apply_codes', {
      approvedBy: 'person:ada',
      method: 'embeddings',
      confidence: 80,
    });
    const ids = await project.write(by, (writer) =>
      [0, 1, 2, 3].map((at) => writer.addCoding({ codeId: 1, sourceId: 1, start: at, end: at + 2 }).id),
    );
    const makers = await project.journal.makers('code_text', project.codings());
    expect([...makers.keys()].sort()).toEqual([...ids].sort());
    expect(makers.get(ids[2] ?? 0)).toMatchObject({
      tool: 'batch_apply_codes',
      principal: 'agent:local',
      approvedBy: 'person:ada',
      method: 'embeddings',
      confidence: 80,
    });
  });
});

function outside(sql: string): void {
  const db = new Database(join(file));
  db.exec(sql);
  db.close();
}
