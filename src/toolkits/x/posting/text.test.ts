import { describe, expect, it } from 'vitest';
import {
  checkPostText,
  containsPhrase,
  isSentText,
  postLength,
  similarity,
  textKey,
} from '../posting/text.ts';

describe('the length of a post', () => {
  // The weights are those of twitter-text's configuration 3: 100 or 200 per range, 23 per link, two per emoji.
  it.each([
    ['plain Latin letters', 'a'.repeat(280), 280],
    ['letters with accents', 'é'.repeat(10), 10],
    ['a letter with a combining mark, in either form', 'e\u0301', 1],
    ['Greek, Cyrillic, Hebrew and Arabic', 'αжשש', 4],
    ['general punctuation', '‘’“”–—', 6],
    ['Chinese, Japanese and Korean', '漢字かなカナ한글', 16],
    ['full-width forms', 'ＡＢ', 4],
    ['a simple emoji', '😀', 2],
    ['an emoji with skin tone', '👍🏽', 2],
    ['a family joined by ZWJ', '👨‍👩‍👧‍👦', 2],
    ['a flag', '🇯🇵', 2],
    ['a keycap', '1️⃣', 2],
    ['a rainbow flag', '🏳️‍🌈', 2],
    ['ten emoji in a row', '🎉'.repeat(10), 20],
    ['a short link', 'http://a.co', 23],
    ['a long link', `https://example.com/${'x'.repeat(300)}`, 23],
    ['a bare domain', 'example.com', 23],
    ['a link in text', 'see https://example.com now', 31],
    ['two links', 'https://a.com https://b.com', 47],
    ['an address, which is no link', 'ada@example.com', 15],
    ['a mention and a hashtag', '@ada #boats', 11],
    ['a newline', 'a\nb', 3],
    // After the cases of twitter-text's own conformance suite.
    ['a sentence', 'This is a test.', 15],
    ['links with and without protocol', 'Test https://test.com test https://test.com test.com test', 86],
    ['a word and a link', 'Hi http://test.co', 26],
    ['a link alone', 'http://test.co', 23],
    ['letters beyond the limit', 'x'.repeat(285), 285],
    ['a link amid letters', `${'x'.repeat(10)} http://www.twitter.com/jack ${'x'.repeat(264)}`, 299],
    ['a link after letters', `${'x'.repeat(264)} http://www.twitter.com/jack `, 289],
    ['ten links', 'https://www.twitter.com/aloha '.repeat(10), 240],
    ['140 double-byte characters', 'の'.repeat(140), 280],
    ['160 Chinese characters', '故'.repeat(160), 320],
    ['three Latin letters before 160 Chinese ones', `the${'故'.repeat(160)}`, 323],
    ['140 cats outside the basic plane', '\u{1f431}'.repeat(140), 280],
    ['160 emoji', '😷'.repeat(160), 320],
    ['letters made one by normalization', 'A\u0301B', 2],
    ['a letter made three by normalization', 'A\uFB2C', 4],
    ['a normalized letter at the end', `${'x'.repeat(279)}A\u0301x`, 281],
    ['letters, old symbols and a joined family', 'H🐱☺👨‍👩‍👧‍👦', 7],
    ['five emoji', '😷👾😡🔥💩', 10],
    ['a skin tone and a joined profession', '🙋🏽👨‍🎤', 4],
    ['spaces and dashes of general punctuation', '\u2000\u2001\u2002\u200A\u200B\u200C\u2010\u2015\u2017', 9],
    ['quotes and primes of general punctuation', '\u2018\u201F\u2032\u2037', 4],
    ['a domain with a label of 64 letters, which is no link', `${'r'.repeat(64)}.com`, 68],
    ['a Japanese host that is too long for a link', `${'あ'.repeat(120)} http://${'い'.repeat(60)}.com`, 372],
    ['a Japanese host that just fits a link', `${'あ'.repeat(120)} http://${'あい'.repeat(10)}.com`, 264],
  ])('counts %s', async (_what, text, expected) => {
    expect(await postLength(text)).toBe(expected);
  });

  it.each([
    ['a'.repeat(281), 'tweet_too_long'],
    ['漢'.repeat(141), 'tweet_too_long'],
    ['😀'.repeat(141), 'tweet_too_long'],
    [`${'a'.repeat(257)} https://example.com`, 'tweet_too_long'],
    ['   \n ', 'validation_error'],
    ['a\uFFFEb', 'validation_error'],
  ])('refuses what X would refuse (%#)', async (text, code) => {
    await expect(checkPostText(text)).rejects.toMatchObject({ code });
  });

  it.each([
    ['a'.repeat(280)],
    ['漢'.repeat(140)],
    ['👨‍👩‍👧‍👦'.repeat(140)],
    [`${'a'.repeat(256)} https://example.com/${'y'.repeat(99)}`],
  ])('takes what just fits (%#)', async (text) => {
    await expect(checkPostText(text)).resolves.toBeUndefined();
  });

  it('names the part of a thread', async () => {
    await expect(checkPostText('x'.repeat(300), 2)).rejects.toMatchObject({
      message: expect.stringContaining('Part 3'),
      detail: { tweet_index: 2, length: 300, max: 280 },
    });
  });
});

describe('comparing texts', () => {
  it('treats texts as equal regardless of case, spacing and Unicode form', () => {
    expect(textKey('Caf\u00e9  au\nlait')).toBe(textKey('cafe\u0301 AU lait '));
    expect(textKey('see https://a.com')).not.toBe(textKey('see https://b.com'));
  });

  it('knows a post again after X escaped it, shortened its links and named who it answers', () => {
    const sent = 'Boats & <ropes> https://example.com/a';
    expect(isSentText(sent, 'Boats &amp; &lt;ropes&gt; https://t.co/1')).toBe(true);
    expect(isSentText(sent, '@benno_ships Boats &amp; &lt;ropes&gt; https://t.co/1')).toBe(true);
    expect(isSentText('With a picture', 'With a picture https://t.co/2')).toBe(true);
    expect(isSentText('Boats', 'Boats and more')).toBe(false);
  });

  it('measures how much two texts share, and nothing for very short ones', () => {
    expect(similarity('the sea is very large today', 'The sea is very large today!')).toBe(1);
    expect(similarity('one two three four five', 'six seven eight nine ten')).toBe(0);
    expect(similarity('good point', 'good point')).toBe(0);
  });

  it('finds a phrase only as whole words', () => {
    expect(containsPhrase('Please CHECK\nout the boat', 'check out')).toBe(true);
    expect(containsPhrase('checkout', 'check out')).toBe(false);
    expect(containsPhrase('a C++ (beta) thing', 'C++ (beta)')).toBe(true);
    expect(containsPhrase('überprüfen', 'über')).toBe(false);
  });
});
