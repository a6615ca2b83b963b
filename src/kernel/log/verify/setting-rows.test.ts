import { generateKeyPairSync, hash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { EntryKind } from '../entry.ts';
import { noteKey } from '../signing/note.ts';
import { SettingCheck } from './setting-rows.ts';

const newKey = () => noteKey('test/log', generateKeyPairSync('ed25519').publicKey);
const timeOf = (seq: number) => new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString();

describe('settings and agents against the log', () => {
  let store: TestStore;
  let check: SettingCheck;
  let seq = 0;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());
  beforeEach(() => {
    check = new SettingCheck();
    seq = 0;
  });
  afterEach(async () => {
    await store.database.db.deleteFrom('settings').execute();
    await store.database.db.deleteFrom('agents').execute();
  });

  const take = (extra?: JsonObject, kind: EntryKind = 'config') => {
    check.take(seq, { v: 1, kind, at: timeOf(seq), principal: 'person:ada', extra });
    seq += 1;
  };
  const faults = () => check.compare(store.database);
  const set = async (key: string, value: string) => {
    await store.database.db.deleteFrom('settings').where('key', '=', key).execute();
    await store.database.db.insertInto('settings').values({ key, value }).execute();
  };

  it('have nothing to compare in a store without either', async () => {
    expect(await faults()).toEqual([]);
  });

  it('leave other settings and other entries alone', async () => {
    take({ paused: true, agent_paused: 'a', agent_added: 'a', policy_version: '1' }, 'call');
    take();
    take({ key: newKey().text, retires: newKey().text });
    await set('request_state_secret', 'x');
    await set('audit.origin', 'test/log');
    expect(await faults()).toEqual([]);
  });

  describe('a pause', () => {
    it('must be stored with the person who ordered it last', async () => {
      take({ paused: true });
      const missing = 'The setting paused is not set, but the log says "person:ada".';
      expect(await faults()).toEqual([{ seq: 0, message: missing }]);
      await set('paused', 'person:eve');
      expect(await faults()).toEqual([
        { seq: 0, message: 'The setting paused is "person:eve", but the log says "person:ada".' },
      ]);
      await set('paused', 'person:ada');
      expect(await faults()).toEqual([]);
    });

    it('must not be stored after it was lifted, or without having been ordered', async () => {
      await set('paused', 'person:ada');
      const message = 'The setting paused is "person:ada", but the log says not set.';
      expect(await faults()).toEqual([{ seq: undefined, message }]);
      take({ paused: true });
      take({ paused: false });
      take({ paused: 'yes' });
      expect(await faults()).toEqual([{ seq: 1, message }]);
    });
  });

  describe('the pause of an agent', () => {
    it('must be stored with the person who ordered it', async () => {
      take({ agent_paused: 'scout' });
      take({ agent_paused: 'other' });
      take({ agent_resumed: 'other' });
      take({ agent_paused: 7 });
      expect(await faults()).toEqual([
        { seq: 0, message: 'The setting paused:agent:scout is not set, but the log says "person:ada".' },
      ]);
      await set('paused:agent:scout', 'person:ada');
      expect(await faults()).toEqual([]);
    });

    it('must not be stored after it was lifted, or without having been ordered', async () => {
      take({ agent_paused: 'scout' });
      take({ agent_resumed: 'scout' });
      expect(await faults()).toEqual([]);
      await set('paused:agent:scout', 'person:ada');
      await set('paused:agent:other', 'person:ada');
      expect(await faults()).toEqual([
        { seq: 1, message: 'The setting paused:agent:scout is "person:ada", but the log says not set.' },
        {
          seq: undefined,
          message: 'The setting paused:agent:other is "person:ada", but the log says not set.',
        },
      ]);
    });
  });

  describe('the overrides of the policy', () => {
    const message = 'The setting policy_overrides is not what the log says was set.';

    it('must be what was set last', async () => {
      take({ policy_version: '1', overrides: hash('sha256', 'old') });
      take({ policy_version: '2', overrides: hash('sha256', 'new') });
      take({ overrides: hash('sha256', 'other') });
      await set('policy_overrides', 'new');
      expect(await faults()).toEqual([]);
      await set('policy_overrides', 'old');
      expect(await faults()).toEqual([{ seq: 1, message }]);
      await store.database.db.deleteFrom('settings').execute();
      expect(await faults()).toEqual([{ seq: 1, message }]);
    });

    it('must not be stored when no one set any', async () => {
      await set('policy_overrides', 'new');
      expect(await faults()).toEqual([{ seq: undefined, message }]);
    });

    it('cannot be checked by an entry that does not name them', async () => {
      take({ policy_version: '1' });
      await set('policy_overrides', 'new');
      expect(await faults()).toEqual([]);
    });
  });

  describe('a signing key', () => {
    const announce = (extra: JsonObject) => take(extra, 'checkpoint-key');

    it('must be stored as active or retired, as the log says', async () => {
      const [first, second] = [newKey(), newKey()];
      announce({ action: 'add', key: first.text });
      announce({ action: 'rotate', key: second.text, retires: first.text });
      announce({ key: 7, retires: null });
      await set('audit.origin', 'test/log');
      await set(`audit.key.${first.id}`, `retired ${first.text}`);
      await set(`audit.key.${second.id}`, `active ${second.text}`);
      expect(await faults()).toEqual([]);
      await set(`audit.key.${first.id}`, `active ${first.text}`);
      await store.database.db.deleteFrom('settings').where('key', '=', `audit.key.${second.id}`).execute();
      expect(await faults()).toEqual([
        {
          seq: 1,
          message: `The setting audit.key.${first.id} is "active ${first.text}", but the log says "retired ${first.text}".`,
        },
        {
          seq: 1,
          message: `The setting audit.key.${second.id} is not set, but the log says "active ${second.text}".`,
        },
      ]);
    });

    it('must be one that the log names', async () => {
      await set('audit.key.12345678', 'active x');
      expect(await faults()).toEqual([
        {
          seq: undefined,
          message: 'The setting audit.key.12345678 is a signing key that the log does not name.',
        },
      ]);
    });

    it('that cannot be read is still compared', async () => {
      announce({ action: 'add', key: 'test/log+nonsense' });
      await set('audit.origin', 'test/log');
      expect(await faults()).toEqual([
        {
          seq: 0,
          message: 'The setting audit.key. is not set, but the log says "active test/log+nonsense".',
        },
      ]);
    });

    it('has the name of the log', async () => {
      const key = newKey();
      announce({ action: 'add', key: key.text });
      await set(`audit.key.${key.id}`, `active ${key.text}`);
      expect(await faults()).toEqual([
        { seq: undefined, message: 'The setting audit.origin is not set, but the log is named "test/log".' },
      ]);
      await set('audit.origin', 'other/log');
      expect(await faults()).toEqual([
        {
          seq: undefined,
          message: 'The setting audit.origin is "other/log", but the log is named "test/log".',
        },
      ]);
    });
  });

  describe('an agent', () => {
    const row = (more = {}) =>
      store.database.db
        .insertInto('agents')
        .values({ name: 'scout', token_hash: 'hash', created_at: timeOf(0), revoked_at: null, ...more })
        .execute();

    it('must have the token and the time it was added with', async () => {
      take({ agent_added: 'scout', token_hash: 'hash' });
      await row();
      expect(await faults()).toEqual([]);
      await store.database.db.updateTable('agents').set({ token_hash: 'other' }).execute();
      expect(await faults()).toEqual([
        { seq: 0, message: 'Agent scout has a different token from the one it was added with.' },
      ]);
      await store.database.db
        .updateTable('agents')
        .set({ token_hash: 'hash', created_at: timeOf(9) })
        .execute();
      expect(await faults()).toEqual([
        { seq: 0, message: 'Agent scout was added or revoked at a different time from the one in the log.' },
      ]);
    });

    it('is not checked by its token where the log names none', async () => {
      take({ agent_added: 'scout' });
      await row();
      expect(await faults()).toEqual([]);
    });

    it('must be revoked when the log says so, and only then', async () => {
      take({ agent_added: 'scout', token_hash: 'hash' });
      await row({ revoked_at: timeOf(1) });
      const message = 'Agent scout was added or revoked at a different time from the one in the log.';
      expect(await faults()).toEqual([{ seq: 0, message }]);
      take({ agent_revoked: 'scout' });
      expect(await faults()).toEqual([]);
      await store.database.db.updateTable('agents').set({ revoked_at: null }).execute();
      expect(await faults()).toEqual([{ seq: 0, message }]);
    });

    it('may be added again after it was revoked', async () => {
      take({ agent_added: 'scout', token_hash: 'old' });
      take({ agent_revoked: 'scout' });
      take({ agent_added: 'scout', token_hash: 'hash' });
      await row({ created_at: timeOf(2) });
      expect(await faults()).toEqual([]);
    });

    it('must have been added', async () => {
      take({ agent_revoked: 'scout' });
      take({ agent_added: 7 });
      take({ agent_revoked: 7 });
      await row();
      expect(await faults()).toEqual([
        {
          seq: undefined,
          message: 'Agent scout has a row, but the log does not say that it was added.',
        },
      ]);
    });

    it('must have a row', async () => {
      take({ agent_added: 'scout' });
      take({ agent_revoked: 'other' });
      expect(await faults()).toEqual([
        { seq: 0, message: 'Agent scout is in the log, but its row is missing.' },
        { seq: undefined, message: 'Agent other is in the log, but its row is missing.' },
      ]);
    });

    it('must have been added when its row is the only sign of it', async () => {
      await row({ name: 'intruder' });
      expect(await faults()).toHaveLength(1);
    });
  });
});
