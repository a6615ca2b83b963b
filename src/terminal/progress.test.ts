import { describe, expect, it } from 'vitest';
import { startProgress } from './output.ts';

function screen(isTTY: boolean) {
  const written: string[] = [];
  const out = { isTTY, write: (text: string) => written.push(text) > 0 } as unknown as NodeJS.WriteStream;
  return { out, written };
}

describe('progress', () => {
  it('draws a bar on a terminal and wipes it at the end', () => {
    const { out, written } = screen(true);
    const progress = startProgress(out, () => 0);
    progress.show('Reading', 1, 2);
    progress.show('Reading', 2, 2);
    progress.end();
    expect(written[0]).toContain('[############............] 1/2 Reading');
    expect(written[1]).toContain('2/2');
    expect(written.at(-1)).toBe('\r\u001b[K');
  });

  it('draws no more often than eyes follow', () => {
    const { out, written } = screen(true);
    let now = 0;
    const progress = startProgress(out, () => now);
    for (let step = 0; step < 1000; step += 1) {
      now += 1;
      progress.show('Reading', step, 2000);
    }
    expect(written.length).toBeLessThanOrEqual(11);
  });

  it('writes nothing without a terminal', () => {
    const { out, written } = screen(false);
    const progress = startProgress(out);
    progress.show('Reading', 1, 3);
    progress.show('Writing', 3, 3);
    progress.end();
    expect(written).toEqual([]);
  });
});
