import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Harmless {
  readonly file: string;
  readonly line?: string;
  readonly part?: string;
  readonly reason: string;
}

const LISTS = 'scripts/mutate/harmless';

describe('the lists of mutants that no one notices', () => {
  it.each(readdirSync(LISTS))('%s names code that exists, each with its reason', (list) => {
    const entries = JSON.parse(readFileSync(join(LISTS, list), 'utf8')) as Harmless[];
    const isStale = ({ file, line = '', part = '' }: Harmless): boolean => {
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
      return !lines.some((text) => text.includes(line) && text.includes(part));
    };
    expect(entries.filter(isStale).map(({ file, line }) => `${file}: ${line}`)).toEqual([]);
    expect(entries.filter(({ reason }) => !reason.trim())).toEqual([]);
  });
});
