import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasSigningKey, KeyFile, type KeyPair } from './key-file.ts';

describe('the file of the signing key', () => {
  let parent: string;
  let folder: string;
  let file: KeyFile;
  const { platform } = process;
  const path = () => join(folder, 'audit-key.pem');
  const modeOf = (place: string) => statSync(place).mode & 0o777;
  const setPlatform = (value: string) => Object.defineProperty(process, 'platform', { value });
  const isSame = (one: KeyPair, other: KeyPair | undefined) =>
    other !== undefined && one.publicKey.equals(other.publicKey) && one.privateKey.equals(other.privateKey);

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'countersign-key-'));
    folder = join(parent, 'data');
    file = new KeyFile(folder);
  });
  afterEach(() => {
    setPlatform(platform);
    rmSync(parent, { recursive: true });
  });

  it('is made on first use, with its directory, and read from then on', () => {
    expect(hasSigningKey(folder)).toBe(false);
    expect(file.read()).toBeUndefined();
    const made = file.readOrCreate();
    expect(made.publicKey.asymmetricKeyType).toBe('ed25519');
    expect(hasSigningKey(folder)).toBe(true);
    expect(isSame(made, file.read())).toBe(true);
    expect(isSame(made, file.readOrCreate())).toBe(true);
    expect(readdirSync(folder)).toEqual(['audit-key.pem']);
    expect(modeOf(folder)).toBe(0o700);
  });

  it('is created for its owner only, not corrected afterwards', () => {
    // Where modes are not corrected, only the one it was created with is left.
    setPlatform('win32');
    file.readOrCreate();
    expect(modeOf(path())).toBe(0o600);
    chmodSync(path(), 0o644);
    file.read();
    expect(modeOf(path())).toBe(0o644);
  });

  it('is closed to others when it was opened to them, and otherwise left alone', () => {
    file.readOrCreate();
    for (const [before, after] of [
      [0o644, 0o600],
      [0o610, 0o600],
      [0o400, 0o400],
    ] as const) {
      chmodSync(path(), before);
      file.read();
      expect(modeOf(path())).toBe(after);
    }
  });

  it('is not taken for missing when it cannot be read', () => {
    mkdirSync(path(), { recursive: true });
    expect(() => file.read()).toThrow(/EISDIR/);
    expect(() => file.readOrCreate()).toThrow(/EISDIR/);
  });

  it('says what to do when it is damaged, and why', () => {
    file.readOrCreate();
    writeFileSync(path(), 'not a key');
    expect(() => file.read()).toThrow(
      expect.objectContaining({
        message: `The signing key ${path()} is unreadable. Restore it from a backup, or move it elsewhere to start with a new key.`,
        cause: expect.any(Error),
      }),
    );
    expect(readFileSync(path(), 'utf8')).toBe('not a key');
  });

  it('is not replaced when another process links one first, and nothing is left of the attempt', () => {
    mkdirSync(folder);
    // A link to nowhere can be neither read nor replaced: like a key that another process makes and deletes.
    symlinkSync(join(parent, 'nowhere'), path());
    expect(() => file.readOrCreate()).toThrow(/disappeared while it was being created/);
    expect(readdirSync(folder)).toEqual(['audit-key.pem']);
  });

  it('gets a successor that waits until it is promoted', () => {
    const first = file.readOrCreate();
    expect(file.readNext()).toBeUndefined();
    const abandoned = file.createNext();
    const next = file.createNext();
    expect(isSame(abandoned, next)).toBe(false);
    expect(isSame(next, file.readNext())).toBe(true);
    expect(isSame(first, file.read())).toBe(true);
    file.promoteNext();
    expect(isSame(next, file.read())).toBe(true);
    expect(file.readNext()).toBeUndefined();
  });

  it('gets no successor when that one is dropped, which can be repeated', () => {
    const first = file.readOrCreate();
    file.createNext();
    file.dropNext();
    file.dropNext();
    expect(file.readNext()).toBeUndefined();
    expect(isSame(first, file.read())).toBe(true);
  });
});
