import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packInto } from './packed.ts';

const LIMIT_MB = 80;

/** Bytes on disk, in whole blocks as the file system counts them. */
const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, entry) => sum + lstatSync(join(entry.parentPath, entry.name)).blocks * 512,
    0,
  );

/** The packages directly in a `node_modules` and in those below. */
function packagesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    if (name.startsWith('.')) return [];
    if (name.startsWith('@')) return packagesIn(join(folder, name));
    const path = join(folder, name);
    return [path, ...packagesIn(join(path, 'node_modules'))];
  });
}

/** Installs the packed tarball into an empty folder as a user would, and prints what that takes. Needs the network. */
const folder = mkdtempSync(join(tmpdir(), 'countersign-size-'));
try {
  const tarball = packInto(folder);
  writeFileSync(join(folder, 'package.json'), '{}');
  execFileSync('npm', ['install', '--omit=dev', '--no-audit', '--no-fund', tarball], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const modules = join(folder, 'node_modules');
  const packages = packagesIn(modules);
  const megabytes = bytesIn(modules) / 1e6;
  const largest = packages
    .map((path) => ({ name: path.slice(modules.length + 1), mb: bytesIn(path) / 1e6 }))
    .sort((a, b) => b.mb - a.mb)
    .slice(0, 6);
  process.stdout.write(`Tarball    ${(lstatSync(tarball).size / 1e6).toFixed(1)} MB\n`);
  process.stdout.write(`Installed  ${megabytes.toFixed(1)} MB (at most ${LIMIT_MB} MB)\n`);
  process.stdout.write(`Packages   ${packages.length}\n`);
  for (const { name, mb } of largest) process.stdout.write(`  ${mb.toFixed(1).padStart(5)} MB  ${name}\n`);
  if (megabytes > LIMIT_MB) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
