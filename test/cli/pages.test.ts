import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';

const PAGES = ['x-commands', 'operations', 'migrating-from-x-wrappers', 'research', 'dev'];

/** What a page asks people to type: code spans and lines of shell blocks. */
function commandsOn(page: string): string[] {
  const text = readFileSync(`docs/${page}.md`, 'utf8');
  const spans = [...text.matchAll(/`(countersign [^`]+)`/g)].map(([, span = '']) => span);
  const lines = [...text.matchAll(/^ *(?:\$ )?(countersign .+)$/gm)].map(([, line = '']) => line);
  return [...spans, ...lines].map((line) => line.split(/\s+#|\s+\|/)[0] ?? '');
}

/** The first word or option that the program does not know, if any. */
function unknownIn(line: string): string | undefined {
  let command: Command = createProgram();
  const ancestors: Command[] = [command];
  const words = line
    .replace(/"[^"]*"|'[^']*'/g, 'TEXT')
    .split(/\s+/)
    .slice(1);
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word.startsWith('-') && word !== '-') {
      const known = ancestors
        .flatMap(({ options }) => options)
        .find(({ long, short }) => word === long || word === short);
      if (!known) return word;
      if (known.required || known.optional) at += 1;
      continue;
    }
    const next = command.commands.find((one) => one.name() === word);
    if (next) {
      command = next;
      ancestors.push(next);
    } else if (
      command.commands.length > 0 &&
      command.registeredArguments.length === 0 &&
      /^[a-z]/.test(word)
    ) {
      return word;
    }
  }
  return undefined;
}

describe('pages about commands', () => {
  it.each(PAGES)('name only commands and options that exist (%s)', (page) => {
    const found = commandsOn(page);
    expect(found.length).toBeGreaterThan(0);
    expect(found.flatMap((line) => (unknownIn(line) ? [`${line}: ${unknownIn(line)}`] : []))).toEqual([]);
  });

  it('would notice a command or an option that does not exist', () => {
    expect(unknownIn('countersign x tweet TEXT')).toBe('tweet');
    expect(unknownIn('countersign x post TEXT --now')).toBe('--now');
    expect(unknownIn('countersign --json research export study.qdpx --force')).toBeUndefined();
  });
});
