import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stem } from './stem.ts';

/** From the sample vocabulary that the algorithm's description publishes. */
const PUBLISHED = `
consign>consign consigned>consign consignment>consign consistency>consist consistently>consist consists>consist
consolation>consol consolatory>consolatori console>consol consolidating>consolid consolingly>consol
conspicuous>conspicu conspiracy>conspiraci conspirator>conspir constable>constabl constance>constanc
constancy>constanc knackeries>knackeri knaves>knave knavish>knavish kneeling>kneel knees>knee knightly>knight
knitted>knit knives>knive knocker>knocker known>known`;

describe('the stemmer', () => {
  it.each(
    PUBLISHED.trim()
      .split(/\s+/)
      .map((pair) => pair.split('>') as [string, string]),
  )('makes %s into %s', (word, expected) => {
    expect(stem(word)).toBe(expected);
  });

  it('brings forms of one word together', () => {
    expect(new Set(['worry', 'worries', 'worried', 'worrying'].map(stem)).size).toBe(1);
    expect(new Set(['theme', 'themes'].map(stem)).size).toBe(1);
    expect(new Set(['hope', 'hoped', 'hoping', 'hopes'].map(stem)).size).toBe(1);
    expect(new Set(["mother's", 'mothers', 'mother'].map(stem)).size).toBe(1);
  });

  it('keeps words apart that only look alike', () => {
    expect(stem('news')).not.toBe(stem('new'));
    expect(stem('hop')).not.toBe(stem('hope'));
    expect(stem('organization')).not.toBe(stem('organ'));
  });

  it('leaves words of other scripts as they are and never throws', () => {
    expect(stem('тревога')).toBe('тревога');
    expect(stem('不安')).toBe('不安');
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z']{0,20}$/), (word) => stem(word).length <= word.length + 1),
    );
  });
});
