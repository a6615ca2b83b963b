import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export type Alg = -7 | -8 | -257;

export interface SignOptions {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  /** User present 1, user verified 4. */
  readonly flags?: number;
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

function makeKeys(alg: Alg): { privateKey: KeyObject; publicKey: KeyObject } {
  if (alg === -7) return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (alg === -8) return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** An authenticator in software: what a browser and a security key do together. */
export class Authenticator {
  readonly credential = randomBytes(16).toString('base64url');
  readonly spki: string;
  readonly alg: Alg;
  readonly rpId: string;
  readonly origin: string;
  readonly #private: KeyObject;
  #counter = 0;

  constructor({
    alg = -7,
    rpId = 'localhost',
    origin = 'http://localhost:8765',
  }: { alg?: Alg; rpId?: string; origin?: string } = {}) {
    const { privateKey, publicKey } = makeKeys(alg);
    this.alg = alg;
    this.rpId = rpId;
    this.origin = origin;
    this.#private = privateKey;
    this.spki = publicKey.export({ format: 'der', type: 'spki' }).toString('base64url');
  }

  get fingerprint(): string {
    return sha256(Buffer.from(this.spki, 'base64url')).subarray(0, 16).toString('hex');
  }

  /** The key as it is enrolled. */
  key(person = 'person:ada', name = 'Key') {
    const { credential, spki, alg, rpId, origin } = this;
    return { person, credential, spki, alg, rpId, origins: [origin], name };
  }

  sign(challenge: string, options: SignOptions = {}) {
    const { origin = this.origin, rpId = this.rpId, type = 'webauthn.get', flags = 0x05 } = options;
    this.#counter += 1;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    const data = Buffer.concat([sha256(rpId), Buffer.from([flags]), counter]);
    const client = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
    const signed = Buffer.concat([data, sha256(client)]);
    const signature = sign(this.alg === -8 ? null : 'sha256', signed, this.#private);
    return {
      authenticatorData: data.toString('base64url'),
      clientData: client.toString('base64url'),
      signature: signature.toString('base64url'),
    };
  }

  /** The same with the name of the key, as decisions and orders need it. */
  signAs(challenge: string, options: SignOptions = {}) {
    return { ...this.sign(challenge, options), key: this.fingerprint };
  }
}
