import type { SourceText } from '../project/types.ts';
import type { Turn } from './speakers.ts';

const FEWEST_TURNS = 2;
const MOSTLY = 0.6;
const ASKS = /[?？؟][\s"”’')\]]*$/u;

/**
 * Who asks in a text where others answer: most of their turns end in a question. Found by what they do, so that it holds for any name,
 * role and language; a text in which all ask has none.
 */
export function questioners(text: SourceText, turns: readonly Turn[]): ReadonlySet<string> {
  const counted = new Map<string, { turns: number; asked: number }>();
  for (const { speaker, textStart, end } of turns) {
    const count = counted.get(speaker) ?? { turns: 0, asked: 0 };
    count.turns += 1;
    if (ASKS.test(text.slice(Math.max(textStart, end - 20), end))) count.asked += 1;
    counted.set(speaker, count);
  }
  const asking = [...counted].filter(
    ([, count]) => count.turns >= FEWEST_TURNS && count.asked >= MOSTLY * count.turns,
  );
  return new Set(asking.length < counted.size ? asking.map(([speaker]) => speaker) : []);
}
