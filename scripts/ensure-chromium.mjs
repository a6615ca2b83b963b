// The web app's tests need a Chromium. Installs Debian's where that is possible without asking, and says how otherwise.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findChromium } from './chromium.mjs';

if (findChromium()) process.exit(0);
const isRoot = process.getuid?.() === 0;
if (!isRoot || !existsSync('/usr/bin/apt-get')) {
  process.stderr.write(
    'No Chromium found. Install one (Debian: apt-get install chromium-headless-shell) or set CHROMIUM_PATH, then run the tests again.\n',
  );
  process.exit(1);
}
process.stderr.write('Installing Chromium for the web tests (apt-get install chromium-headless-shell)…\n');
const quiet = {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
};
const install = (name) =>
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], quiet);
execFileSync('apt-get', ['update', '-qq'], quiet);
try {
  install('chromium-headless-shell');
} catch {
  // Releases before Debian 12 have the whole browser only.
  install('chromium');
}
