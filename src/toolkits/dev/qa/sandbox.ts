import { spawn } from 'node:child_process';
import { lstat, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { homePath } from '../../../lib/file-error.ts';
import { put } from '../../../lib/lookup.ts';
import {
  covers,
  isSystem,
  packageCaches,
  programFolders,
  resolverFile,
  showSystem,
  within,
} from './visible.ts';

export interface Confinement {
  /** With `tmp` and `home` all the command may write to. The folder around them is ours: what is mounted comes from there. */
  readonly workDir: string;
  readonly tmp: string;
  /** What stands where the person's home folder is: empty at first, kept from setup to command. */
  readonly home: string;
  /** Our own data and the git folder of the clone, which stay hidden even inside a folder that was opened. */
  readonly hidden: readonly string[];
  /** What the command will see of the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Files and folders the configuration opens on purpose. */
  readonly readable: readonly string[];
  readonly network: boolean;
}

const NAMESPACES = ['--unshare-all', '--cap-drop', 'ALL'];

const works = new Map<string | undefined, Promise<boolean>>();

/** Is bubblewrap here, and may it make namespaces? Asked once for the programs that `PATH` finds. */
export function bwrapWorks(): Promise<boolean> {
  const { PATH } = process.env;
  const known = works.get(PATH) ?? probeBwrap();
  works.set(PATH, known);
  return known;
}

function probeBwrap(): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = [...NAMESPACES, '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--', 'true'];
    const child = spawn('bwrap', probe, { stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
}

/**
 * The command with the system's programs, its checkout and nothing else: no network, no other processes, no home
 * folder, no other temporary files, none of our own data. What is not named here does not exist for it.
 */
export async function confine(argv: readonly string[], to: Confinement): Promise<string[]> {
  const home = to.env.HOME && !isSystem(to.env.HOME) ? to.env.HOME : undefined;
  const readOnly = [
    ...(await programFolders(to.env.PATH ?? '', home, [homedir(), ...to.hidden])),
    ...(home && !to.network ? await packageCaches(home, to.home) : []),
    ...(to.network ? await resolverFile() : []),
    ...to.readable.map(homePath),
  ];
  const hidden = await within(readOnly, to.hidden);
  const mounts = [...readOnly, ...hidden, to.tmp, to.workDir];
  if (home) await removeLinks(to.home, resolve(home), mounts);
  return [
    'bwrap',
    '--die-with-parent',
    '--new-session',
    ...NAMESPACES,
    ...(to.network ? ['--share-net'] : []),
    ...(await showSystem()),
    ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/var/tmp', '--dir', '/run'],
    ...(home ? ['--bind', to.home, home] : []),
    ...readOnly.flatMap(show),
    ...hidden.flatMap((path) => ['--tmpfs', path]),
    ...['--bind', to.tmp, to.tmp, '--bind', to.workDir, to.workDir, '--chdir', to.workDir, '--'],
    ...argv,
  ];
}

/** Setup may leave links in its home. Bubblewrap would follow them on the way to a mount, and make folders outside. */
async function removeLinks(ownHome: string, home: string, mounts: readonly string[]): Promise<void> {
  for (const mount of mounts.filter((path) => covers(home, path))) {
    let at = ownHome;
    for (const name of relative(home, mount).split('/')) {
      at = join(at, name);
      const found = await lstat(at).catch(() => undefined);
      if (found?.isSymbolicLink()) await rm(at);
    }
  }
}

const show = (path: string): string[] => ['--ro-bind-try', path, path];

/** What programs need to run at all. Everything else, tokens above all, stays out unless the configuration names it. */
const PLAIN =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|SYSTEMROOT|COMSPEC|PATHEXT|WINDIR|USERPROFILE)$/i;

export function qaEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  allowed: readonly string[],
  tmp: string,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (PLAIN.test(name) || allowed.includes(name))) put(kept, name, value);
  }
  return { ...kept, CI: '1', NO_COLOR: '1', TERM: 'dumb', TMPDIR: tmp, TEMP: tmp, TMP: tmp };
}
