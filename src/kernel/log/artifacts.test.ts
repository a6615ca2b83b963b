import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { ArtifactStore } from './artifacts.ts';

describe.each(ENGINES)('the artifact store on %s', (engine) => {
  let store: TestStore;
  let artifacts: ArtifactStore;
  beforeEach(async () => {
    store = await openTestStore(engine);
    artifacts = new ArtifactStore(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  const HELLO = 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
  const pathOf = (id: string) => join(store.dataDir, 'artifacts', id.slice(7, 9), id.slice(9));

  it('names bytes by their hash, for their owner only, and gives them back', async () => {
    const ref = await artifacts.write('greeting.txt', 'text/plain', 'hello');
    expect(ref).toEqual({ id: HELLO, name: 'greeting.txt', mediaType: 'text/plain', size: 5 });
    expect(Buffer.from((await artifacts.read(HELLO)) ?? []).toString()).toBe('hello');
    expect(statSync(pathOf(HELLO)).mode & 0o777).toBe(0o600);
    expect(await artifacts.check(HELLO)).toBe('intact');
  });

  it('stores the same bytes once and leaves no drafts behind, also when written simultaneously', async () => {
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => artifacts.write(`${n}`, 'text/plain', Buffer.from('hello'))),
    );
    expect(readdirSync(join(store.dataDir, 'artifacts', '2c'))).toHaveLength(1);
    expect(await store.database.db.selectFrom('artifacts').select('id').execute()).toHaveLength(1);
  });

  it('distinguishes a changed file from a missing one, and repairs either when the bytes are written again', async () => {
    await artifacts.write('a', 'text/plain', 'hello');
    writeFileSync(pathOf(HELLO), 'hellO');
    expect(await artifacts.check(HELLO)).toBe('changed');
    await artifacts.write('a', 'text/plain', 'hello');
    expect(await artifacts.check(HELLO)).toBe('intact');
    await artifacts.remove(HELLO);
    expect(await artifacts.check(HELLO)).toBe('missing');
    expect(await artifacts.read(HELLO)).toBeUndefined();
  });

  it('never leaves its folder for an id that is not a hash', async () => {
    for (const id of ['sha256:../../etc/passwd', '../countersign.db', `sha256:${'g'.repeat(64)}`, '']) {
      expect(await artifacts.read(id)).toBeUndefined();
      expect(await artifacts.check(id)).toBe('missing');
      await artifacts.remove(id);
    }
  });
});
