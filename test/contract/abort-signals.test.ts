import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

describe('abort signals', () => {
  it('never combine a timeout with another signal by AbortSignal.any, which Node 20 forgets under memory pressure', () => {
    const files = (readdirSync('src', { recursive: true }) as string[])
      .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
      .map((file) => join('src', file));
    expect(files.length).toBeGreaterThan(100);
    const offenders = files.filter((file) => {
      const text = readFileSync(file, 'utf8');
      return /AbortSignal\.any\(/.test(text) && /AbortSignal\.timeout\(/.test(text);
    });
    expect(offenders).toEqual([]);
  });
});
