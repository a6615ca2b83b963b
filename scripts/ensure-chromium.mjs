// The web app's tests need a Chromium. Installs Debian's where that is possible without asking, and says how otherwise.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const KNOWN = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const found = KNOWN.find((path) => path && existsSync(path));
if (found) {
  process.exit(0);
}
const isRoot = process.getuid?.() === 0;
if (!isRoot || !existsSync('/usr/bin/apt-get')) {
  process.stderr.write(
    'No Chromium found. Install one (Debian: apt-get install chromium) or set CHROMIUM_PATH, then run the tests again.\n',
  );
  process.exit(1);
}
process.stderr.write('Installing Chromium for the web tests (apt-get install chromium)…\n');
const quiet = {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
};
execFileSync('apt-get', ['update', '-qq'], quiet);
execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], quiet);
