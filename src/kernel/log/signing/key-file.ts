import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../../lib/file-error.ts';

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const FILE = 'audit-key.pem';
const NEXT = 'audit-key.next.pem';

export const hasSigningKey = (dataDir: string): boolean => existsSync(join(dataDir, FILE));

/** The log's signing key: made on first use, readable by its owner only. */
export class KeyFile {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = dataDir;
  }

  read(): KeyPair | undefined {
    return readPair(join(this.#folder, FILE));
  }

  /** Several processes may start simultaneously; the one that links first has made the key, the others read it. */
  readOrCreate(): KeyPair {
    const known = this.read();
    if (known) return known;
    makeFolder(this.#folder, 0o700);
    const draft = join(this.#folder, `.${FILE}.${randomUUID()}`);
    writePair(draft);
    try {
      linkSync(draft, join(this.#folder, FILE));
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    } finally {
      rmSync(draft, { force: true });
    }
    const made = this.read();
    if (!made)
      throw new Error(`The signing key ${join(this.#folder, FILE)} disappeared while it was being created.`);
    return made;
  }

  /** A successor waits next to the key until the log has recorded it. */
  createNext(): KeyPair {
    const path = join(this.#folder, NEXT);
    rmSync(path, { force: true });
    writePair(path);
    const pair = readPair(path);
    if (!pair) throw new Error(`The new signing key ${path} disappeared while it was being created.`);
    return pair;
  }

  readNext(): KeyPair | undefined {
    return readPair(join(this.#folder, NEXT));
  }

  promoteNext(): void {
    renameSync(join(this.#folder, NEXT), join(this.#folder, FILE));
  }

  dropNext(): void {
    rmSync(join(this.#folder, NEXT), { force: true });
  }
}

function writePair(path: string): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
}

function readPair(path: string): KeyPair | undefined {
  let pem: string;
  try {
    // A key made readable by accident is corrected rather than trusted as it is.
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    pem = readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    const privateKey = createPrivateKey(pem);
    return { privateKey, publicKey: createPublicKey(privateKey) };
  } catch (cause) {
    throw new Error(
      `The signing key ${path} is unreadable. Restore it from a backup, or move it elsewhere to start with a new key.`,
      {
        cause,
      },
    );
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
