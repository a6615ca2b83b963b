// The tests of QA commands need bubblewrap to show what it hides. Installs Debian's where that is possible without asking.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const PROBE = ['--unshare-all', '--ro-bind', '/', '/', '--', 'true'];
const works = () => spawnSync('bwrap', PROBE, { stdio: 'ignore' }).status === 0;
const isInstalled = () => spawnSync('bwrap', ['--version'], { stdio: 'ignore' }).status === 0;

if (!isInstalled() && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
  process.stderr.write('Installing bubblewrap for the tests of QA commands (apt-get install bubblewrap)…\n');
  const quiet = {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  try {
    execFileSync('apt-get', ['update', '-qq'], quiet);
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'bubblewrap'], quiet);
  } catch {
    process.stderr.write('Warning: apt-get could not install bubblewrap.\n');
  }
}
if (!works()) {
  process.stderr.write(
    'Warning: bubblewrap is not installed or may not create namespaces here, so its own tests are replaced by those of a machine without it. Install it (Debian: apt-get install bubblewrap) to run them.\n',
  );
}
