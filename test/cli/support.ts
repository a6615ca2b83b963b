import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { runCli } from '../../src/cli/program.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command line on a data directory of its own, in this process. */
export interface Terminal {
  readonly home: string;
  configure(toml: string): void;
  run(...args: string[]): Promise<Ran>;
  /** Runs with --json and reads the answer. */
  json<T>(...args: string[]): Promise<T>;
  /** What any function of the command line writes and exits with. */
  watch(work: () => Promise<void>): Promise<Ran>;
  close(): void;
}

export function openTerminal(config = ''): Terminal {
  const home = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
  const before = { home: process.env.COUNTERSIGN_HOME, level: process.env.COUNTERSIGN_LOG__LEVEL };
  process.env.COUNTERSIGN_HOME = home;
  process.env.COUNTERSIGN_LOG__LEVEL = 'silent';
  const configure = (toml: string): void => writeFileSync(join(home, 'config.toml'), toml, { mode: 0o600 });
  configure(config);
  const watch = async (work: () => Promise<void>): Promise<Ran> => {
    let out = '';
    let err = '';
    const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += String(text);
      return true;
    });
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      err += String(text);
      return true;
    });
    const earlier = process.exitCode;
    process.exitCode = 0;
    try {
      await work();
      return { code: Number(process.exitCode), out, err };
    } finally {
      process.exitCode = earlier;
      stdout.mockRestore();
      stderr.mockRestore();
    }
  };
  const run = (...args: string[]): Promise<Ran> => watch(() => runCli(['node', 'countersign', ...args]));
  return {
    home,
    configure,
    watch,
    run,
    async json(...args) {
      const { out, err } = await run('--json', ...args);
      if (!out) throw new Error(`countersign ${args.join(' ')} printed nothing: ${err}`);
      return JSON.parse(out);
    },
    close() {
      restore('COUNTERSIGN_HOME', before.home);
      restore('COUNTERSIGN_LOG__LEVEL', before.level);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
