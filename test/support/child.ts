import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { bundle } from '../../scripts/bundling.mjs';

const built = new Map<string, Promise<string>>();

/** Builds a script of `children/` once, because Node 20 cannot run TypeScript. */
export function buildChild(name: string): Promise<string> {
  const known = built.get(name);
  if (known) return known;
  const making = build(name);
  built.set(name, making);
  return making;
}

/** Like the product, in parts: a test that starts hundreds of these must not load all of every toolkit for each. */
async function build(name: string): Promise<string> {
  const folder = join(inject('childFolder'), name);
  const script = join(folder, `${name}.js`);
  if (existsSync(script)) return script;
  const own = `${folder}-${process.pid}`;
  await bundle({ [name]: join('test/support/children', `${name}.ts`) }, own);
  try {
    renameSync(own, folder);
    return script;
  } catch {
    // Another worker was faster.
    return join(own, `${name}.js`);
  }
}

export interface Child {
  readonly process: ChildProcess;
  readonly output: () => string;
  /** Resolves with the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  send(line: string): void;
  /** Waits for a line of output. */
  said(line: string): Promise<void>;
}

export async function startChild(name: string, args: readonly string[]): Promise<Child> {
  const script = await buildChild(name);
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  const waiting: { line: string; resolve: () => void }[] = [];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (const one of waiting) if (text.includes(`${one.line}\n`)) one.resolve();
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  return {
    process: child,
    output: () => text,
    ended,
    send: (line) => void child.stdin.write(`${line}\n`),
    said: (line) =>
      text.includes(`${line}\n`)
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ line, resolve })),
  };
}
