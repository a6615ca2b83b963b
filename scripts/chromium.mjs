import { existsSync } from 'node:fs';

/** The shell without windows comes first: it does the same with a fifth less work. */
const KNOWN = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The Chromium that the web app is tried in, or undefined where none is installed. */
export const findChromium = () => KNOWN.find((path) => path && existsSync(path));
