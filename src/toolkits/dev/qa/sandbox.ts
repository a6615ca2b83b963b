import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  borrowedObjects,
  exists,
  isSystem,
  packageCaches,
  programFolders,
  resolverFile,
  showSystem,
} from './visible.ts';

export interface Confinement {
  /** The one folder the command may write to; it holds the worktree and the command's own home. */
  readonly folder: string;
  readonly workDir: string;
  /** What stands where the person's home folder is: empty at first, kept from setup to command. */
  readonly home: string;
  /** Git folder of the clone, readable. */
  readonly gitDir: string;
  /** Stands for the configuration of the clone, which may hold passwords. */
  readonly gitConfig: string;
  /** Our own data, which stays hidden even inside a folder that was opened. */
  readonly dataDir: string;
  /** What the command will see of the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Files and folders the configuration opens on purpose. */
  readonly readable: readonly string[];
  readonly network: boolean;
}

const NAMESPACES = ['--unshare-all', '--cap-drop', 'ALL'];

let works: Promise<boolean> | undefined;

/** Is bubblewrap here, and may it make namespaces? Asked once per process. */
export function bwrapWorks(): Promise<boolean> {
  works ??= new Promise((resolve) => {
    const probe = [...NAMESPACES, '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--', 'true'];
    const child = spawn('bwrap', probe, { stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
  return works;
}

/**
 * The command with the system's programs, its worktree and nothing else: no network, no other processes, no home
 * folder, nobody's temporary files, none of our own data. What is not named here does not exist for it.
 */
export async function confine(argv: readonly string[], to: Confinement): Promise<string[]> {
  const home = to.env.HOME && !isSystem(to.env.HOME) ? to.env.HOME : undefined;
  const readOnly = [
    ...(await programFolders(to.env.PATH ?? '', home)),
    ...(home && !to.network ? await packageCaches(home, to.home) : []),
    ...(to.network ? await resolverFile() : []),
    ...to.readable.map(expand),
    ...(await borrowedObjects(to.gitDir)),
    to.gitDir,
  ];
  const credentials = join(to.gitDir, 'credentials');
  const opened = readOnly.some((path) => path === to.dataDir || to.dataDir.startsWith(`${path}/`));
  return [
    'bwrap',
    '--die-with-parent',
    '--new-session',
    ...NAMESPACES,
    ...(to.network ? ['--share-net'] : []),
    ...(await showSystem()),
    ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/var/tmp', '--dir', '/run'],
    ...(home ? ['--bind', to.home, home] : []),
    ...readOnly.flatMap((path) => ['--ro-bind-try', path, path]),
    ...(opened ? ['--tmpfs', to.dataDir] : []),
    ...['--ro-bind', to.gitConfig, join(to.gitDir, 'config')],
    ...((await exists(credentials)) ? ['--ro-bind', '/dev/null', credentials] : []),
    ...['--bind', to.folder, to.folder, '--chdir', to.workDir, '--'],
    ...argv,
  ];
}

const expand = (path: string): string =>
  path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : resolve(path);
