import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import yazl from 'yazl';
import { copyProduction, packInto, unpack } from './packed.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly compatibility: { readonly platforms: readonly string[] };
}

/**
 * Writes the MCPB bundle for this platform to the current directory, or to the folder given as argument. It contains the
 * native part of the database for the platform it is made on only.
 */
const folder = resolve(process.argv[2] ?? '.');
const manifest = JSON.parse(readFileSync('distribution/mcpb/manifest.json', 'utf8')) as Manifest;
const target = join(folder, `${manifest.name}-${manifest.version}-${process.platform}-${process.arch}.mcpb`);
const work = mkdtempSync(join(tmpdir(), 'countersign-bundle-'));
try {
  const server = join(work, 'server');
  unpack(packInto(work), server);
  copyProduction(server);
  const zip = new yazl.ZipFile();
  const own = {
    ...manifest,
    compatibility: { ...manifest.compatibility, platforms: [process.platform] },
  };
  zip.addBuffer(Buffer.from(`${JSON.stringify(own, null, 2)}\n`), 'manifest.json');
  for (const path of (readdirSync(server, { recursive: true }) as string[]).sort())
    if (statSync(join(server, path)).isFile())
      zip.addFile(join(server, path), `server/${path.replaceAll('\\', '/')}`);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(target));
} finally {
  rmSync(work, { recursive: true, force: true });
}
process.stdout.write(`${target} (${(statSync(target).size / 1e6).toFixed(1)} MB)\n`);
