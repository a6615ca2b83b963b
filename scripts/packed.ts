import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Packs what `npm publish` would send, from the build in `dist/`; returns the tarball. */
export function packInto(folder: string): string {
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ filename: string }];
  return resolve(folder, filename);
}

/** The package from its tarball, as npm unpacks it. */
export function unpack(tarball: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components', '1']);
}

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/**
 * Copies the packages that an installation without development dependencies gets, as the lock file lists them, from the
 * ones that are installed here: the same files, without the network.
 */
export function copyProduction(folder: string): string[] {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const wanted = Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path]) => path)
    // Parts for other platforms are in the lock file, but not on the disk.
    .filter((path) => existsSync(path));
  for (const path of wanted) {
    const target = join(folder, path);
    cpSync(path, target, { recursive: true, dereference: true });
    // What is nested has a line of its own in the lock file.
    rmSync(join(target, 'node_modules'), { recursive: true, force: true });
  }
  return wanted;
}
