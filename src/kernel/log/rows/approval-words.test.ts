import type { Updateable } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { openTestKernel, type TestKernel } from '../../../../test/support/kernel.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { ApprovalsTable } from '../../store/tables.ts';
import { prepareEntry } from '../entry.ts';
import { writeWithEvidence } from '../write.ts';
import { compareWords, ERASED, findForgedWords, statedWords } from './approval-words.ts';

describe('an entry about an approval', () => {
  const entry = { v: 1, at: '', rule: 'ask', extra: { presentation_sha256: 'd' } } as const;

  it('says what is shown where it requests or edits', () => {
    expect(statedWords({ ...entry, kind: 'approval' })).toEqual({ digest: 'd' });
    expect(statedWords({ ...entry, kind: 'edit', rule: undefined })).toEqual({ digest: 'd' });
    expect(statedWords({ ...entry, kind: 'approval', rule: undefined })).toBeUndefined();
    expect(statedWords({ ...entry, kind: 'routed' })).toBeUndefined();
  });

  it('from before there was a digest has none', () => {
    const extras: readonly (JsonObject | undefined)[] = [undefined, {}, { presentation_sha256: 5 }];
    for (const extra of extras)
      expect(statedWords({ ...entry, kind: 'approval', extra })).toEqual({ digest: undefined });
  });
});

describe.each(ENGINES)('title and content of an approval on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  beforeEach(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
    });
  });
  afterEach(() => store.close());

  const ask = async (text: string): Promise<number> => {
    const { outcome } = await test.call('ledger_write', { text });
    if (outcome.status !== 'routed') throw new Error(`It was ${outcome.status}.`);
    return outcome.approvalId;
  };
  const edit = (id: number, set: Updateable<ApprovalsTable>) =>
    store.database.db.updateTable('approvals').set(set).where('id', '=', id).execute();
  const forged = (...ids: number[]) => findForgedWords(store.database, ids);

  it('are compared with the request of each, and of none where none is named', async () => {
    const [one, two] = [await ask('one'), await ask('two')];
    expect(await forged(one, two)).toEqual(new Set());
    await edit(two, { summary: 'Like a kitten' });
    expect(await forged(one, two)).toEqual(new Set([two]));
    expect(await forged()).toEqual(new Set());
    expect(await forged(two + 1)).toEqual(new Set());
  });

  it('are forged where their context is not what was requested', async () => {
    const [one, two] = [await ask('one'), await ask('two')];
    await edit(two, { context: '{"salt":"other"}' });
    expect(await forged(one, two)).toEqual(new Set([two]));
  });

  it('are compared with the request also after other entries about it', async () => {
    const id = await ask('one');
    const approval = await test.kernel.approvals.get(id);
    await test.kernel.approvals.edit(id, { kind: 'person', id: 'ada' }, { text: 'two' });
    expect(await forged(id)).toEqual(new Set());
    expect(approval?.version).toBe(1);
    await edit(id, { context: '{"salt":"other"}' });
    expect(await forged(id)).toEqual(new Set([id]));
  });

  it('are forged where the log has no request, or only one that was changed', async () => {
    const id = await ask('one');
    await edit(id, { uuid: '10000000-0000-4000-8000-000000000009' });
    const compared = await compareWords(store.database, [id]);
    expect(compared.get(id)).toEqual({ isForged: true, digests: new Set() });
    const changed = await ask('two');
    await store.database.db
      .updateTable('audit_log')
      .set((eb) => ({ body: eb.fn('replace', ['body', eb.val('agent:local'), eb.val('agent:other')]) }))
      .execute();
    const { isForged, digests } = (await compareWords(store.database, [changed])).get(changed) ?? {};
    expect([isForged, digests]).toEqual([true, new Set()]);
  });

  it('are not compared where the last request is from before there was a digest', async () => {
    const id = await ask('one');
    const { uuid, digest } = await store.database.db
      .selectFrom('approvals')
      .select(['uuid', 'digest'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await edit(id, { summary: 'Like a kitten' });
    expect(await forged(id)).toEqual(new Set([id]));
    const older = prepareEntry({ kind: 'edit', at: '2026-01-01', approval: { uuid, digest } });
    await writeWithEvidence(store.database, async (write) => write.append(older));
    expect(await forged(id)).toEqual(new Set());
  });

  describe('that changed while the log was read', () => {
    /** The database as a reader sees it, when this happens before its first look at the log. */
    const during = async (happens: () => Promise<unknown>) => {
      let isDone = false;
      // A plugin holds its connection until it answers, so the reader has its own.
      const reader = await store.again();
      return {
        engine,
        db: reader.db.withPlugin({
          transformQuery: ({ node }) => node,
          async transformResult({ result }) {
            const isLog = result.rows.some((row) => Object.hasOwn(row, 'hash'));
            if (isLog && !isDone) {
              isDone = true;
              await happens();
            }
            return result;
          },
        }),
      };
    };

    it.each<[string, Updateable<ApprovalsTable>]>([
      ['edited', { version: 2 }],
      ['erased', { summary: ERASED }],
    ])('are left to the next reader when they were %s', async (_what, set) => {
      const id = await ask('one');
      await edit(id, { gist: 'other' });
      expect(await findForgedWords(await during(() => edit(id, set)), [id])).toEqual(new Set());
    });

    it('are left out when the row is gone', async () => {
      const id = await ask('one');
      await edit(id, { gist: 'other' });
      const remove = async () => {
        const { db } = store.database;
        await db.deleteFrom('approval_previews').where('approval_id', '=', id).execute();
        await db.deleteFrom('approvals').where('id', '=', id).execute();
      };
      expect(await findForgedWords(await during(remove), [id])).toEqual(new Set());
    });

    it('are forged when nothing of it changed', async () => {
      const id = await ask('one');
      await edit(id, { gist: 'other' });
      expect(await findForgedWords(await during(async () => {}), [id])).toEqual(new Set([id]));
    });
  });
});
