import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { openTerminal, type Terminal } from './support.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** bash is part of every system the tests run on; the others are tried where they are installed. */
const installed = SHELLS.filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0);

let terminal: Terminal;
let dir: string;
const scripts = new Map<Shell, string>();
beforeAll(async () => {
  terminal = openTerminal();
  dir = mkdtempSync(join(tmpdir(), 'completion-'));
  for (const shell of SHELLS) {
    const { code, out, err } = await terminal.run('completion', shell);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    scripts.set(shell, join(dir, shell));
    writeFileSync(join(dir, shell), out);
  }
});
afterAll(() => {
  terminal.close();
  rmSync(dir, { recursive: true });
});

/** What the shell offers for a line, of which the last word may be incomplete. */
function offers(shell: Shell, line: string): string[] {
  const file = scripts.get(shell) ?? '';
  const words = line.split(' ');
  const script = {
    bash: `source ${file}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _countersign; printf '%s\\n' "\${COMPREPLY[@]}"`,
    // The two functions of the completion system that the script calls; the rest of it needs a terminal.
    zsh: `compdef() { :; }; _files() { print FILES; }
      _describe() { local e; for e in "\${(@P)2}"; do [[ "$e" == "\${words[CURRENT]}"* ]] && print -r -- "\${e%%:*}"; done; true; }
      source ${file}; words=("$@"); CURRENT=$#; _countersign`,
    fish: `source ${file}; complete -C ${JSON.stringify(line)} | string replace -r '\\t.*' ''; true`,
  }[shell];
  const rest = shell === 'fish' ? [] : [...(shell === 'bash' ? ['bash'] : ['zsh']), ...words];
  return execFileSync(shell, [...(shell === 'zsh' ? ['-f'] : []), '-c', script, ...rest], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: dir },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
    .split('\n')
    .filter(Boolean);
}

describe.each(installed)('completion in %s', (shell) => {
  it('offers the commands of every level', () => {
    const program = createProgram();
    expect(
      offers(shell, 'countersign ')
        .filter((word) => !word.startsWith('-'))
        .sort(),
    ).toEqual(program.commands.map((one) => one.name()).sort());
    const approvals = program.commands.find((one) => one.name() === 'approvals');
    expect(
      offers(shell, 'countersign approvals ')
        .filter((word) => !word.startsWith('-'))
        .sort(),
    ).toEqual(approvals?.commands.map((one) => one.name()).sort());
    expect(offers(shell, 'countersign approvals ap')).toEqual(['approve']);
    expect(offers(shell, 'countersign completion ')).toEqual(expect.arrayContaining([...SHELLS]));
  });

  it('offers options, their fixed values, and the global ones below', () => {
    expect(offers(shell, 'countersign init --')).toEqual(
      expect.arrayContaining(['--yes', '--client', '--undo', '--json']),
    );
    expect(offers(shell, 'countersign init --client c')).toEqual(
      expect.arrayContaining(['claude-code', 'claude-desktop', 'cursor', 'codex']),
    );
    expect(offers(shell, 'countersign mcp serve --profile read')).toEqual(['readonly']);
  });
});

describe('completion', () => {
  it('was tried in at least one shell, and refuses an unknown one', async () => {
    expect(installed).toContain('bash');
    expect((await terminal.run('completion', 'tcsh')).code).toBe(2);
  });
});
