import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** A full path. No shell has been there to replace `~` in a configuration file, an argument of a tool or a quoted word. */
export const homePath = (path: string): string =>
  resolve(/^~(?=$|[/\\])/.test(path) ? join(homedir(), path.slice(1)) : path);
