import { homedir } from 'node:os';
import type { Place } from '../clients/formats.ts';
import type { App } from './app.ts';

/** Where the clients of the person who runs this process keep their files. */
export const clientPlace = (env: App['env'] = process.env): Place => ({
  home: env.HOME || homedir(),
  cwd: process.cwd(),
  platform: process.platform,
  env,
});
