import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fitsAlgorithm, readKey, verifyAssertion } from './assertion.ts';

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const spkiOf = (key: KeyObject): string => key.export({ format: 'der', type: 'spki' }).toString('base64url');

const pair = generateKeyPairSync('ed25519');
const key = {
  spki: spkiOf(pair.publicKey),
  alg: -8,
  rpId: 'localhost',
  origins: ['http://localhost:8765', 'https://approve.example'],
};
const challenge = sha256('the statement');
const CLIENT = {
  type: 'webauthn.get',
  challenge: challenge.toString('base64url'),
  origin: 'http://localhost:8765',
  crossOrigin: false,
};
const authenticatorData = ({ rpId = 'localhost', flags = 0x05 } = {}): Buffer =>
  Buffer.concat([sha256(rpId), Buffer.from([flags]), Buffer.from([0, 0, 1, 2])]);

/** Signs whatever it is given, as a broken or hostile authenticator might. */
function assertion(
  { client = JSON.stringify(CLIENT), data = authenticatorData() } = {},
  by: KeyObject = pair.privateKey,
) {
  const signature = sign(by === pair.privateKey ? null : 'sha256', Buffer.concat([data, sha256(client)]), by);
  return {
    authenticatorData: data.toString('base64url'),
    clientData: Buffer.from(client).toString('base64url'),
    signature: signature.toString('base64url'),
  };
}
const clientWith = (changes: object) => ({ client: JSON.stringify({ ...CLIENT, ...changes }) });

describe('a signature of an authenticator', () => {
  it('is valid on exactly this challenge, from any page of the key, and has its counter', () => {
    expect(verifyAssertion(key, challenge, assertion())).toEqual({ ok: true, counter: 258 });
    const elsewhere = assertion(clientWith({ origin: 'https://approve.example', crossOrigin: undefined }));
    expect(verifyAssertion(key, challenge, elsewhere)).toEqual({ ok: true, counter: 258 });
  });

  it.each([
    ['text that is not JSON', { client: 'hello' }, 'the client data is not a JSON object'],
    ['a list', { client: '[]' }, 'the client data is not a JSON object'],
    ['null', { client: 'null' }, 'the client data is not a JSON object'],
    ['a number', { client: '5' }, 'the client data is not a JSON object'],
    ['an enrolment', clientWith({ type: 'webauthn.create' }), 'it is not a signature of an approval'],
    ['no type', clientWith({ type: 1 }), 'it is not a signature of an approval'],
    ['another challenge', clientWith({ challenge: 'AAAA' }), 'it signs something else'],
    ['another page', clientWith({ origin: 'https://evil.example' }), 'it was made on https://evil.example'],
    ['no page', clientWith({ origin: null }), 'it was made on another page'],
    ['a list of pages', clientWith({ origin: key.origins }), 'it was made on another page'],
    ['a page within a page', clientWith({ crossOrigin: true }), 'it was made inside another page'],
    ['no data', { data: Buffer.alloc(0) }, 'the authenticator data is too short'],
    ['one byte less', { data: authenticatorData().subarray(0, 36) }, 'the authenticator data is too short'],
    ['another site', { data: authenticatorData({ rpId: 'evil' }) }, 'it was made for another site'],
    ['no touch', { data: authenticatorData({ flags: 0x04 }) }, 'no one touched the authenticator'],
    [
      'no verified person',
      { data: authenticatorData({ flags: 0x01 }) },
      'the authenticator did not verify the person',
    ],
  ])('is refused for %s', (_, made, why) => {
    expect(verifyAssertion(key, challenge, assertion(made))).toEqual({ ok: false, why });
  });

  it('is refused when it is not by this key or on other data', () => {
    const why = 'the signature is not valid for this key';
    const made = assertion();
    const other = spkiOf(generateKeyPairSync('ed25519').publicKey);
    const flagged = authenticatorData({ flags: 0x45 }).toString('base64url');
    for (const [by, changes] of [
      [{ ...key, spki: other }, {}],
      [{ ...key, spki: 'bm90IGEga2V5' }, {}],
      [{ ...key, alg: -7 }, {}],
      [key, { signature: 'AAAA' }],
      [key, { signature: '' }],
      [key, { authenticatorData: flagged }],
      [key, { clientData: Buffer.from(JSON.stringify({ ...CLIENT, more: 1 })).toString('base64url') }],
    ] as const)
      expect(verifyAssertion(by, challenge, { ...made, ...changes })).toEqual({ ok: false, why });
  });

  it('is refused when it is valid, but by a key that its algorithm does not allow', () => {
    const check = (namedCurve: string) => {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
      return verifyAssertion(
        { ...key, alg: -7, spki: spkiOf(publicKey) },
        challenge,
        assertion({}, privateKey),
      );
    };
    expect(check('P-256')).toMatchObject({ ok: true });
    expect(check('P-384')).toEqual({ ok: false, why: 'the signature is not valid for this key' });
  });
});

describe('a public key', () => {
  const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey;
  /** Only its length is read, so any modulus will do; making a real one takes a second. */
  const rsa = (bits: number) => {
    const n = Buffer.alloc(bits / 8, 0xff).toString('base64url');
    return createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' });
  };
  /** The same key with the object identifier of RSASSA-PSS and without parameters. */
  const rsaPss = () => {
    const plain = rsa(2048).export({ format: 'der', type: 'spki' });
    const algorithm = Buffer.from('300b06092a864886f70d01010a', 'hex');
    const head = Buffer.from(plain.subarray(0, 4));
    head.writeUInt16BE(plain.readUInt16BE(2) - 2, 2);
    const key = Buffer.concat([head, algorithm, plain.subarray(19)]);
    return createPublicKey({ key, format: 'der', type: 'spki' });
  };

  it('is read from its bytes, each time the same, and is undefined when they are damaged', () => {
    for (let time = 0; time < 2; time += 1) {
      expect(readKey(key.spki)?.equals(pair.publicKey)).toBe(true);
      expect(readKey('bm90IGEga2V5')).toBeUndefined();
    }
  });

  it('serves only the algorithm it was made for, and only when it is long enough', () => {
    const p256 = ec('P-256');
    const long = rsa(2048);
    const fitting: [KeyObject, number][] = [
      [p256, -7],
      [pair.publicKey, -8],
      [long, -257],
    ];
    for (const [one] of fitting)
      for (const [fits, alg] of fitting) expect(fitsAlgorithm(one, alg), `${alg}`).toBe(one === fits);
    expect(fitsAlgorithm(ec('P-384'), -7)).toBe(false);
    expect(fitsAlgorithm(rsa(1024), -257)).toBe(false);
    expect(fitsAlgorithm(rsaPss(), -257)).toBe(false);
    // PS256: the key would do, but no signature of this kind is verified.
    expect(fitsAlgorithm(long, -37)).toBe(false);
  });
});
