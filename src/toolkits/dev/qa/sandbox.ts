import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface Confinement {
  /** The one folder the command may write to. */
  readonly folder: string;
  readonly workDir: string;
  /** Git folder of the clone, readable. */
  readonly gitDir: string;
  /** Our own data, which no command has business with. */
  readonly dataDir: string;
  readonly network: boolean;
}

/** Keys and sockets that would let a command act as the person. */
const HIDDEN_AT_HOME = [
  '.ssh',
  '.aws',
  '.azure',
  '.gnupg',
  '.kube',
  '.docker',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.config/gh',
  '.config/git/credentials',
  '.config/gcloud',
  '.countersign',
];
const HIDDEN = [
  '/run/user',
  '/run/dbus',
  '/run/podman',
  '/run/docker.sock',
  '/run/containerd',
  '/var/run/docker.sock',
];

let works: Promise<boolean> | undefined;

/** Is bubblewrap here, and may it make namespaces? Asked once per process. */
export function bwrapWorks(): Promise<boolean> {
  works ??= new Promise((resolve) => {
    const probe = ['--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--', 'true'];
    const child = spawn('bwrap', probe, { stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
  return works;
}

/** The command inside a read-only copy of the system, without other processes, without keys, without network. */
export async function confine(argv: readonly string[], to: Confinement): Promise<string[]> {
  const hidden: string[] = [];
  const candidates = [to.dataDir, ...HIDDEN, ...HIDDEN_AT_HOME.map((name) => join(homedir(), name))];
  for (const path of candidates) {
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) hidden.push('--tmpfs', path);
    else if (found) hidden.push('--ro-bind', '/dev/null', path);
  }
  return [
    'bwrap',
    '--die-with-parent',
    '--new-session',
    '--unshare-all',
    ...(to.network ? ['--share-net'] : []),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
    ...hidden,
    ...['--ro-bind', to.gitDir, to.gitDir, '--bind', to.folder, to.folder, '--chdir', to.workDir, '--'],
    ...argv,
  ];
}
