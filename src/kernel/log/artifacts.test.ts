import { mkdirSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { ArtifactStore } from './artifacts.ts';

const HELLO = 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';

describe.each(ENGINES)('the artifact store on %s', (engine) => {
  let store: TestStore;
  let artifacts: ArtifactStore;
  beforeEach(async () => {
    store = await openTestStore(engine);
    artifacts = new ArtifactStore(store.database, store.dataDir);
  });
  afterEach(() => store.close());

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
});

describe('the files of the artifact store', () => {
  let store: TestStore;
  let artifacts: ArtifactStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    artifacts = new ArtifactStore(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  const pathOf = (id: string) => join(store.dataDir, 'artifacts', id.slice(7, 9), id.slice(9));

  it('stay inside its directory for an id that is not a hash', async () => {
    await artifacts.write('a', 'text/plain', 'hello');
    const wrong = ['sha256:../../etc/passwd', '../countersign.db', `sha256:${'g'.repeat(64)}`, ''];
    for (const id of [...wrong, `x${HELLO}`, `${HELLO}0`]) {
      expect(await artifacts.read(id)).toBeUndefined();
      expect(await artifacts.check(id)).toBe('missing');
      expect(await artifacts.size(id)).toBeUndefined();
      await artifacts.remove(id);
    }
    expect(await artifacts.check(HELLO)).toBe('intact');
  });

  it('have their size reported, and can be removed more than once', async () => {
    await artifacts.write('a', 'text/plain', 'hello');
    expect(await artifacts.size(HELLO)).toBe(5);
    await artifacts.remove(HELLO);
    await artifacts.remove(HELLO);
    expect(await artifacts.size(HELLO)).toBeUndefined();
  });

  it('are left alone when the same bytes are written again', async () => {
    await artifacts.write('a', 'text/plain', 'hello');
    const { ino } = statSync(pathOf(HELLO));
    await artifacts.write('a', 'text/plain', 'hello');
    expect(statSync(pathOf(HELLO)).ino).toBe(ino);
  });

  it('are missing where a file took the place of their directory', async () => {
    await artifacts.write('a', 'text/plain', 'hello');
    rmSync(dirname(pathOf(HELLO)), { recursive: true });
    writeFileSync(dirname(pathOf(HELLO)), '');
    expect(await artifacts.check(HELLO)).toBe('missing');
    expect(await artifacts.read(HELLO)).toBeUndefined();
  });

  it('are not taken for missing when they cannot be read', async () => {
    mkdirSync(pathOf(HELLO), { recursive: true });
    await expect(artifacts.read(HELLO)).rejects.toThrow('EISDIR');
    await expect(artifacts.check(HELLO)).rejects.toThrow('EISDIR');
  });

  it.runIf(process.platform === 'linux')('are closed once they are written', async () => {
    await artifacts.write('a', 'text/plain', 'hello');
    const open = readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)];
      } catch {
        // The directory that is being read is closed by now.
        return [];
      }
    });
    expect(open.filter((path) => path.startsWith(join(store.dataDir, 'artifacts')))).toEqual([]);
  });
});
