import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { tempFolder } from '../../../../test/support/dev.ts';
import { bwrapWorks, confine } from './sandbox.ts';

const folder = tempFolder();
const dataDir = join(folder, 'data');
const scratch = join(dataDir, 'dev/scratch/1-x');
mkdirSync(join(scratch, 'tree'), { recursive: true });
mkdirSync(join(folder, 'clone/.git'), { recursive: true });
const bounds = {
  folder: scratch,
  workDir: join(scratch, 'tree'),
  gitDir: join(folder, 'clone/.git'),
  dataDir,
  network: false,
};
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const works = await bwrapWorks();

describe('confine', () => {
  it('puts the command last, cuts the network and hides our own data before opening the one folder', async () => {
    const argv = await confine(['npm', 'test'], bounds);
    expect(argv.slice(argv.indexOf('--'))).toEqual(['--', 'npm', 'test']);
    expect(argv).toContain('--unshare-all');
    expect(argv).toContain('--die-with-parent');
    expect(argv).not.toContain('--share-net');
    const hides = argv.indexOf(dataDir);
    const opens = argv.lastIndexOf(scratch);
    expect(argv[hides - 1]).toBe('--tmpfs');
    expect(argv[opens - 2]).toBe('--bind');
    expect(hides).toBeLessThan(opens);
  });

  it('shares the network only when told to', async () => {
    expect(await confine(['true'], { ...bounds, network: true })).toContain('--share-net');
  });

  it.skipIf(!works)(
    'writes in its folder only and sees neither network nor data (needs bubblewrap)',
    async () => {
      const script = `const fs=require("fs"); fs.writeFileSync("ok","1"); let out=[]; for (const p of ["/etc/x", ${JSON.stringify(join(folder, 'y'))}]) { try { fs.writeFileSync(p,""); out.push("wrote "+p) } catch {} } out.push(Object.keys(require("os").networkInterfaces()).filter(n=>n!=="lo").join()); console.log(JSON.stringify(out))`;
      const [program = '', ...args] = await confine([process.execPath, '-e', script], bounds);
      expect(JSON.parse(execFileSync(program, args).toString())).toEqual(['']);
    },
  );
});
