import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeRepo, openWorld, tempFolder } from '../test/support/dev.ts';

/** Stands in for bubblewrap: notes what it was asked and runs the command after `--` unconfined. */
const STAND_IN = `#!/bin/sh
printf '%s\\n' "$*" >> "$(dirname "$0")/asked"
while [ "$1" != "--" ]; do if [ "$1" = "--chdir" ]; then cd "$2"; fi; shift; done
shift
exec "$@"
`;

describe('qa_test where bubblewrap is installed', () => {
  const folder = tempFolder();
  const before = process.env.PATH;

  beforeAll(() => {
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/bwrap'), STAND_IN);
    chmodSync(join(folder, 'bin/bwrap'), 0o755);
    process.env.PATH = `${join(folder, 'bin')}:${before}`;
  });
  afterAll(() => {
    process.env.PATH = before;
  });

  it('runs setup and command in it, each with the network it was given', async () => {
    const repo = makeRepo(join(folder, 'app'), { 'a.txt': 'one\n' });
    const config = { qa: { test: ['cat', 'a.txt'], setup: ['true'], setup_network: true } };
    const env = { PATH: process.env.PATH };
    const world = await openWorld({ cwd: repo, folder, config, env });
    const run_id = await world.run('.');
    const { data } = await world.call('qa_test', { run_id });
    expect(data).toMatchObject({
      status: 'pass',
      report: { stdout: 'one\n', sandbox: 'bwrap', command: 'cat a.txt' },
    });
    const [probe = '', setup = '', command = ''] = readFileSync(join(folder, 'bin/asked'), 'utf8').split(
      '\n',
    );
    expect(probe).toMatch(/-- true$/);
    expect(setup).toContain('--share-net');
    expect(setup).toMatch(/-- true$/);
    expect(command).not.toContain('--share-net');
    expect(command).toMatch(/--unshare-all .* -- cat a\.txt$/);
    await world.close();
  });
});
