import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openTerminal } from '../cli/support.ts';
import { expectPin } from './pin.ts';

const terminal = openTerminal();
afterAll(() => terminal.close());

/** The commands that a help text lists, without commander's own `help`. */
function subcommands(help: string): string[] {
  // After the options; the first level is listed in groups with headings of their own.
  const listed =
    help
      .split(/^(?:Global )?Options:$/m)
      .at(-1)
      ?.split(/^\w[\w -]*:$/m)
      .slice(1)
      .join('\n') ?? '';
  const names = [...listed.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name ?? '');
  return names.filter((name) => name !== 'help');
}

async function helpTexts(path: readonly string[]): Promise<string[]> {
  const { out, code } = await terminal.run(...path, '--help');
  expect(code, path.join(' ')).toBe(0);
  const texts = [`=== ${['countersign', ...path].join(' ')} --help\n${out}`];
  for (const name of subcommands(out)) texts.push(...(await helpTexts([...path, name])));
  return texts;
}

describe('the help', () => {
  it('of every command is as pinned', async () => {
    const texts = await helpTexts([]);
    expect(texts.length).toBeGreaterThan(50);
    expectPin('help.txt', texts.join('\n'));
  });

  it('is the same in the build', () => {
    const main = resolve(process.env.TEST_DIST ?? 'dist', 'main.js');
    const pinned = readFileSync('test/pins/help.txt', 'utf8');
    for (const path of [[], ['approvals', 'edit']]) {
      const text = execFileSync(process.execPath, [main, ...path, '--help'], { encoding: 'utf8' });
      expect(pinned).toContain(`=== ${['countersign', ...path].join(' ')} --help\n${text}`);
    }
  });
});
