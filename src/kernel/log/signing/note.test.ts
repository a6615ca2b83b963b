import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Envelope,
  envelopeShape,
  type NoteSigner,
  noteKey,
  openEnvelope,
  openNote,
  parseNoteKey,
  signEnvelope,
  signNote,
} from './note.ts';

/** The example of the C2SP signed-note specification. */
const KEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const NOTE =
  'This is an example message.\n\n\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n';

function newSigner(name: string): NoteSigner {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { key: noteKey(name, publicKey), sign: (message: Uint8Array) => sign(null, message, privateKey) };
}

describe('signed notes', () => {
  it('open the published example with the published key', () => {
    const key = parseNoteKey(KEY);
    expect(key).toMatchObject({ name: 'example.com/foo', id: '530d903a', text: KEY });
    expect(openNote(NOTE, [key])).toMatchObject({ ok: true, text: 'This is an example message.\n' });
  });

  it('fail for any single changed character of text or signature', () => {
    const key = parseNoteKey(KEY);
    for (let at = 0; at < NOTE.length; at += 1) {
      const changed = `${NOTE.slice(0, at)}${NOTE[at] === 'A' ? 'B' : 'A'}${NOTE.slice(at + 1)}`;
      expect(openNote(changed, [key]).ok, `position ${at}`).toBe(false);
    }
  });

  it('open what a new key signed, and pass over signatures by others', () => {
    const mine = newSigner('log.example/a');
    const witness = newSigner('witness.example');
    const note = signNote('hello\n', mine);
    const both = note + signNote('hello\n', witness).split('\n\n')[1];
    expect(openNote(both, [witness.key])).toMatchObject({ ok: true, key: { name: 'witness.example' } });
    expect(openNote(both, [mine.key])).toMatchObject({ ok: true, key: { name: 'log.example/a' } });
  });

  it('name the signers when none of them is known', () => {
    const mine = newSigner('log.example/a');
    const other = newSigner('log.example/a');
    const opened = openNote(signNote('hello\n', mine), [other.key]);
    expect(opened).toMatchObject({ ok: false, signers: [`log.example/a+${mine.key.id}`] });
  });

  it.each(['', 'no signature\n', 'text\n\n', `${NOTE}trailing`, NOTE.slice(0, -1)])(
    'are refused without a list of signatures: %j',
    (note) => {
      expect(openNote(note, [parseNoteKey(KEY)])).toMatchObject({
        ok: false,
        problem: 'is not a signed note',
        signers: [],
      });
    },
  );

  it('have no text where nothing separates it from signatures', () => {
    expect(openNote('no signature\n', []).text).toBeUndefined();
    expect(openNote('text\n\n', []).text).toBe('text\n');
  });

  it.each([
    'not a signature',
    NOTE.split('\n')[2]?.replace('\u2014', '-'),
    `x${NOTE.split('\n')[2]}`,
    `${NOTE.split('\n')[2]} x`,
    '\u2014 a+b AAAAAAAA',
    '\u2014 name AAAAAA==',
    '\u2014 name AAAAAAB=',
  ])('are refused with a malformed signature line: %j', (line) => {
    expect(openNote(`text\n\n${line}\n`, [parseNoteKey(KEY)])).toEqual({
      ok: false,
      text: 'text\n',
      problem: 'has a malformed signature line',
      signers: [],
    });
  });

  it('are read at their last empty line, and may have any other text before it', () => {
    const mine = newSigner('log.example/a');
    for (const text of ['first\n\nsecond\n', '\n'])
      expect(openNote(signNote(text, mine), [mine.key])).toMatchObject({ ok: true, text });
  });

  it('know a key by both its name and its hash', () => {
    const mine = newSigner('log.example/a');
    const note = signNote('hello\n', mine);
    for (const key of [
      { ...mine.key, name: 'log.example/b' },
      { ...mine.key, id: '00000000' },
    ])
      expect(openNote(note, [key])).toEqual({
        ok: false,
        text: 'hello\n',
        problem: `is not signed by a known key (it names log.example/a+${mine.key.id})`,
        signers: [`log.example/a+${mine.key.id}`],
      });
  });

  it('pass over signatures of any length by unknown keys, and refuse a wrong one by a known key', () => {
    const mine = newSigner('log.example/a');
    const note = signNote('hello\n', mine);
    for (const short of ['AAAAAAA=', 'AAAAAAAA', 'AAAAAAAAAA=='])
      expect(openNote(note.replace('\n\n', `\n\n\u2014 witness ${short}\n`), [mine.key]).ok).toBe(true);
    const other = signNote('other\n', mine).replace('other', 'hello');
    expect(openNote(other, [mine.key])).toMatchObject({
      ok: false,
      problem: 'has an invalid signature',
      signers: [`log.example/a+${mine.key.id}`],
    });
  });
});

describe('the key of a note', () => {
  it('is read with space around it', () => {
    expect(parseNoteKey(` ${KEY}\n`).text).toBe(KEY);
  });

  it.each([
    KEY.slice(0, -4),
    `${KEY}AAAA`,
    KEY.replace('+Aek', '+Bek'),
    'example.com/foo+530d903a',
    `with ${KEY}`,
    `${KEY} more`,
    `+${KEY}`,
    '',
  ])('is refused when it does not have its form: %j', (text) => {
    expect(() => parseNoteKey(text)).toThrow(`"${text}" is not a public key of the form name+hash+base64.`);
  });

  it('is refused when it does not match its own hash', () => {
    expect(() => parseNoteKey(KEY.replace('530d903a', '530d903b'))).toThrow(
      'The public key of example.com/foo does not match its own hash 530d903b.',
    );
  });

  it('is quoted in part when what was given is long', () => {
    expect(() => parseNoteKey('x'.repeat(500))).toThrow(`"${'x'.repeat(120)}" is not`);
  });

  it.each(['', 'two words', 'a+b', ' a', 'a\n'])('cannot be named %j', (name) => {
    const { publicKey } = generateKeyPairSync('ed25519');
    expect(() => noteKey(name, publicKey)).toThrow(`"${name}" cannot name a key`);
  });

  it('is an Ed25519 key and no other of the same length', () => {
    const others = [generateKeyPairSync('x25519'), generateKeyPairSync('ec', { namedCurve: 'P-256' })];
    for (const { publicKey } of others)
      expect(() => noteKey('a', publicKey)).toThrow('Only Ed25519 keys sign notes.');
  });
});

describe('an envelope', () => {
  let mine: NoteSigner;
  let other: NoteSigner;
  let envelope: Envelope;
  beforeEach(() => {
    mine = newSigner('log.example/a');
    other = newSigner('log.example/a');
    envelope = signEnvelope('text/plain', 'hello', mine);
  });

  it('is opened by the key that signed it and by no other', () => {
    expect(envelopeShape.parse(envelope)).toEqual(envelope);
    expect(envelope).toMatchObject({
      payloadType: 'text/plain',
      payload: Buffer.from('hello').toString('base64'),
      signatures: [{ keyid: `log.example/a+${mine.key.id}` }],
    });
    expect(openEnvelope(envelope, mine.key)).toBe('hello');
    expect(openEnvelope(envelope, other.key)).toBeUndefined();
  });

  it('is signed as DSSE says', () => {
    const [{ sig = '' } = {}] = envelope.signatures;
    const message = Buffer.from('DSSEv1 10 text/plain 5 hello');
    expect(verify(null, message, mine.key.publicKey, Buffer.from(sig, 'base64'))).toBe(true);
  });

  it('needs one valid signature among any number', () => {
    const [foreign] = signEnvelope('text/plain', 'hello', other).signatures;
    const signatures = [...(foreign ? [foreign] : []), ...envelope.signatures];
    expect(signatures).toHaveLength(2);
    expect(openEnvelope({ ...envelope, signatures }, mine.key)).toBe('hello');
    expect(envelopeShape.safeParse({ ...envelope, signatures }).success).toBe(true);
    expect(envelopeShape.safeParse({ ...envelope, signatures: [] }).success).toBe(false);
    expect(envelopeShape.safeParse({ ...envelope, signatures: [{}] }).success).toBe(false);
  });

  it('is not opened when its type or its payload was changed', () => {
    expect(openEnvelope({ ...envelope, payloadType: 'text/html' }, mine.key)).toBeUndefined();
    expect(openEnvelope({ ...envelope, payload: 'aGVsbA==' }, mine.key)).toBeUndefined();
  });
});
