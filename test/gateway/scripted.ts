import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlace, type Place, SCRIPTED, stdioServer } from './support.ts';

export interface Script {
  tools: Record<string, unknown>[];
  answers?: Record<string, Record<string, unknown>>;
  grandchild?: boolean;
  stubborn?: boolean;
  dieAtStart?: boolean;
  /** What it answers to `tools/list` in place of its tools; a process that did so once does so until it ends. */
  listing?: { result?: object; error?: object };
  offers?: { resources?: object[]; resourceTemplates?: object[]; prompts?: object[] };
  /** It makes a task of calls that ask for one. */
  tasks?: boolean;
  /** What it answers to questions about a task. */
  task?: { shown?: object; result?: object; error?: object; exit?: number };
}

export const tool = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...more,
});

export const reader = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> =>
  tool(name, { annotations: { readOnlyHint: true }, ...more });

export interface ScriptedPlace extends Place {
  script(next: Script): void;
  /** What reached the server, in order. */
  calls(): { name: string; arguments: Record<string, unknown>; _meta?: Record<string, unknown> }[];
  /** Requests about resources, prompts and completions that reached it, in order. */
  reads(): { method: string; uri?: string; name?: string }[];
  /** Questions about tasks that reached it, in order. */
  asked(): { method: string; taskId: string }[];
  /** Process ids of the server and of what it started. */
  pids(): number[];
}

/** One scripted server named `s`; settings are more lines of its table. */
export async function openScripted(
  first: Script,
  settings = '',
  env: Record<string, string> = {},
): Promise<ScriptedPlace> {
  const file = join(
    process.env.TMPDIR ?? '/tmp',
    `scripted-${process.pid}-${Math.random().toString(36).slice(2)}.json`,
  );
  const script = (next: Script): void => writeFileSync(file, JSON.stringify(next));
  script(first);
  const place = await openPlace(`${stdioServer('s', SCRIPTED, file)}${settings}`, env);
  const lines = (name: string): string[] =>
    existsSync(`${file}.${name}`) ? readFileSync(`${file}.${name}`, 'utf8').split('\n').filter(Boolean) : [];
  return {
    ...place,
    get app() {
      return place.app;
    },
    script,
    calls: () => lines('calls').map((line) => JSON.parse(line)),
    reads: () => lines('reads').map((line) => JSON.parse(line)),
    asked: () => lines('tasks').map((line) => JSON.parse(line)),
    pids: () => lines('starts').map(Number),
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
