import { describe, expect, it } from 'vitest';
import { CappedText } from './process.ts';

const filled = (limit: number, chunks: readonly Buffer[]) => {
  const text = new CappedText(limit);
  for (const chunk of chunks) text.add(chunk);
  return text;
};

describe('CappedText', () => {
  it('keeps everything up to the limit, characters split over chunks included', () => {
    const bytes = Buffer.from('héllo 世界 🎉');
    const text = filled(
      bytes.length,
      [...bytes].map((byte) => Buffer.from([byte])),
    );
    expect(text.text()).toBe('héllo 世界 🎉');
    expect(text.truncated).toBe(false);
  });

  it.each([1, 2, 3, 4, 5, 7, 1000])(
    'keeps beginning and end without half characters in chunks of %i bytes',
    (size) => {
      const whole = `start ${'é世🎉'.repeat(500)} end`;
      const bytes = Buffer.from(whole);
      for (let limit = 40; limit < 60; limit += 1) {
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
        const text = filled(limit, chunks);
        expect(text.truncated).toBe(true);
        const shown = text.text();
        expect(shown).not.toContain('\ufffd');
        const [head = '', tail = ''] = shown.split(/\n\[\d+ bytes omitted\]\n/);
        expect(whole.startsWith(head)).toBe(true);
        expect(whole.endsWith(tail)).toBe(true);
        const left = Number(/\[(\d+) bytes/.exec(shown)?.[1]);
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + left).toBe(bytes.length);
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(limit);
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeGreaterThan(limit - 8);
      }
    },
  );

  it('shows bytes that are no text as replacement characters', () => {
    expect(filled(100, [Buffer.from([0x61, 0xff, 0x00, 0x62])]).text()).toBe('a\ufffd\ufffdb');
  });
});
