import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';

/** Where systems keep their programs. Everything else (home folders, /var, /run, /srv, /mnt …) is not there at all. */
const SYSTEM = [
  'usr',
  'bin',
  'sbin',
  'lib',
  'lib32',
  'lib64',
  'libx32',
  'etc',
  'opt',
  'nix',
  'gnu',
  'snap',
  'sys',
];
/** Next to a folder of programs, what they load. */
const SIBLINGS = ['lib', 'lib64', 'libexec', 'conf', 'versions', 'installs'];
/** Programs that people keep at home without a folder of their own on the PATH. */
const TOOLCHAINS = ['.rustup', '.local/share/uv', '.local/share/pipx', '.local/pipx'];
/** Downloaded packages, so that tests without network find what the person has; no tool keeps its keys there. */
const CACHES = [
  '.npm/_cacache',
  '.cargo/registry',
  '.cargo/git',
  '.m2/repository',
  '.gradle/caches',
  '.nuget/packages',
  '.cache/pip',
  '.cache/uv',
  '.cache/ms-playwright',
  '.local/share/pnpm/store',
  'go/pkg/mod',
];

const exists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined)) !== undefined;

/** Arguments of bubblewrap that show the system's programs, read-only. */
export async function showSystem(): Promise<string[]> {
  const shown: string[] = [];
  for (const name of SYSTEM) {
    const path = `/${name}`;
    const found = await lstat(path).catch(() => undefined);
    if (found?.isSymbolicLink()) shown.push('--symlink', await readlink(path), path);
    else if (found?.isDirectory()) shown.push('--ro-bind', path, path);
  }
  return shown;
}

/** The programs on the PATH, with what they need from the folders around them; nothing that would open a hidden folder. */
export async function programFolders(
  path: string,
  home: string | undefined,
  hidden: readonly string[],
): Promise<string[]> {
  const wanted = path
    .split(':')
    .filter(isAbsolute)
    .flatMap((folder) => around(resolve(folder), home));
  if (home) wanted.push(...TOOLCHAINS.map((name) => join(home, name)));
  const closed = await withTargets(home ? [home, ...hidden] : hidden);
  const found: string[] = [];
  for (const folder of await present(wanted)) {
    const names = await withTargets([folder]);
    if (!names.some((name) => closed.some((one) => covers(name, one)))) found.push(folder);
  }
  return found;
}

/** Packages the person has downloaded, unless the command's own home has some already. */
export async function packageCaches(home: string, ownHome: string): Promise<string[]> {
  const free: string[] = [];
  for (const name of CACHES) {
    const own = await readdir(join(ownHome, name)).catch(() => []);
    if (own.length === 0) free.push(join(home, name));
  }
  return present(free);
}

/** Names of hosts are looked up by a file that many systems keep in /run. */
export async function resolverFile(): Promise<string[]> {
  const path = await realpath('/etc/resolv.conf').catch(() => undefined);
  return path && !isSystem(path) ? [path] : [];
}

/** Is the second path the first one, or inside it? */
export const covers = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

/** Where these paths appear inside opened folders, also when a link leads there. */
export async function within(opened: readonly string[], paths: readonly string[]): Promise<string[]> {
  const targets = await withTargets(paths);
  const found = new Set<string>();
  for (const folder of opened) {
    for (const name of await withTargets([folder])) {
      for (const path of targets) if (covers(name, path)) found.add(join(folder, relative(name, path)));
    }
  }
  return [...found];
}

/** The paths as given, and where links lead: what is mounted is the target. */
async function withTargets(paths: readonly string[]): Promise<string[]> {
  const targets = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  return [...paths.map((path) => resolve(path)), ...targets];
}

function around(folder: string, home: string | undefined): string[] {
  const parent = dirname(folder);
  const inside = home === undefined ? '..' : relative(home, parent);
  // ~/.nvm/versions/node/v22/bin: the parent is one program's own; ~/.local and ~/projects/x are not.
  if (/^\.[^./][^/]*\/./.test(inside) && basename(folder) === 'bin') return [parent];
  return [folder, ...SIBLINGS.map((name) => join(parent, name))];
}

/** Shown as a whole already; nothing may be put in its place. */
export const isSystem = (path: string): boolean =>
  path === '/' || SYSTEM.some((name) => path === `/${name}` || path.startsWith(`/${name}/`));

async function present(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of new Set(paths)) {
    if (!isSystem(path) && (await exists(path))) found.push(path);
  }
  return found;
}
