import { describe, expect, it } from 'vitest';
import { aggregate } from './answer.ts';

describe('aggregating a response', () => {
  it.each<[string, string[], string, string]>([
    ['nothing gives the placeholder', [], '', '(No response)'],
    ['blank parts count as nothing', [' ', '\n'], '  ', '(No response)'],
    ['one part is kept as it is', [], ' As  it is.\n', ' As  it is.\n'],
    ['distinct parts are joined by a blank line', ['One.', 'Two.'], 'Three.', 'One.\n\nTwo.\n\nThree.'],
    [
      'a part that grew is only shown grown',
      ['The sky', 'The sky is'],
      'The sky is blue.',
      'The sky is blue.',
    ],
    ['an equal part is shown once, where it came last', ['Same.', 'Other.'], 'Same.', 'Other.\n\nSame.'],
    ['white space makes no difference', ['a  b\nc'], 'a b c', 'a b c'],
    [
      'what was said on the way stays in addition to another answer',
      ['Let me look.'],
      'It is blue.',
      'Let me look.\n\nIt is blue.',
    ],
    ['parts said twice before the end are said once', ['Looking.', 'Looking.'], 'Done.', 'Looking.\n\nDone.'],
    [
      'a short answer stays although an earlier part contains it',
      ['Is it blue or red?'],
      'blue',
      'Is it blue or red?\n\nblue',
    ],
    ['a word is not found inside another', ['a', 'art'], 'answer party', 'a\n\nart\n\nanswer party'],
    ['an answer without words leaves what was said on the way', ['I posted it.'], '', 'I posted it.'],
  ])('%s', (_, intermediate, final, expected) => {
    expect(aggregate(intermediate, final)).toBe(expected);
  });
});
