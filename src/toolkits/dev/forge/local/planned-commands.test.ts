import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/dev.ts';
import { plannedCommands } from './publish.ts';

it('planned commands run nothing that an agent wrote into them when a person pastes them into a shell', () => {
  const folder = tempFolder();
  const evil = `it's "$(touch ${join(folder, 'a')})" \`touch ${join(folder, 'b')}\`; touch ${join(folder, 'c')}\n!`;
  const plan = {
    baseCommit: '0'.repeat(40),
    baseBranch: 'main',
    headBranch: 'fix/a',
    message: evil,
    title: evil,
    body: '',
    removed: [],
    sides: { before: new Map(), after: new Map() },
    files: [{ path: evil, mode: '100644', content: Buffer.alloc(0) }],
  };
  const commands = plannedCommands(plan, join(folder, 'no repository'), 'origin');
  // The line about the pull request is no command, but a person may paste it all the same.
  for (const command of commands) {
    const line = command.replaceAll(/<(\w+)>/g, '$1').replace(/^open /, 'echo ');
    spawnSync('sh', ['-c', line], { cwd: folder });
  }
  expect(commands.join('\n')).toContain('commit-tree');
  expect(readdirSync(folder)).toEqual([]);
});
