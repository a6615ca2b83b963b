import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { noteKey, openNote, parseNoteKey, signNote } from './note.ts';

/** The example of the C2SP signed-note specification. */
const KEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const NOTE =
  'This is an example message.\n\n\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n';

function newSigner(name: string) {
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

  it.each(['', 'no signature\n', 'text\n\n', 'text\n\nnot a signature\n', `${NOTE}trailing`])(
    'are refused when malformed: %j',
    (note) => {
      expect(openNote(note, [parseNoteKey(KEY)]).ok).toBe(false);
    },
  );

  it.each([
    KEY.replace('530d903a', '530d903b'),
    KEY.slice(0, -4),
    'example.com/foo+530d903a',
    `with space${KEY}`,
    '',
  ])('refuse a damaged key: %j', (text) => {
    expect(() => parseNoteKey(text)).toThrow();
  });
});
