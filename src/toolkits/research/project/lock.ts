import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolError } from '../../../contract/errors.ts';
import { makeFolder } from '../../../lib/file-error.ts';

const FILE = 'project_in_use.lock';
const STALE_MS = 30_000;
const HEARTBEAT_MS = 5_000;

export interface ProjectLock {
  release(): void;
}

export interface LockState {
  readonly user: string;
  readonly at: Date;
  readonly text: string;
}

/**
 * QualCoder's lock file: the user's name and the time, renewed every five seconds, stale after thirty. QualCoder
 * holds it while a project is open; we hold it for the moment of a change, so it can be opened while we run.
 * `stateDir` remembers which lock is ours, so that one left by a killed process of ours is not waited for.
 */
export async function takeLock(
  project: string,
  stateDir: string,
  options: { readonly waitMs?: number; readonly user?: string; readonly signal?: AbortSignal } = {},
): Promise<ProjectLock> {
  const path = join(project, FILE);
  const note = join(stateDir, `lock-${createHash('sha256').update(project).digest('hex').slice(0, 24)}.json`);
  const user = options.user ?? userName();
  const until = Date.now() + (options.waitMs ?? 8_000);
  for (;;) {
    const text = `${user}\n${Date.now() / 1000}`;
    if (create(path, text)) return hold(path, note, user, text, stateDir);
    const holder = readLock(project);
    if (!holder) continue;
    if (isStale(holder) || leftByUs(note, holder)) {
      breakLock(path, holder);
      continue;
    }
    if (Date.now() >= until) throw inUse(holder);
    await sleep(100, undefined, { signal: options.signal });
  }
}

/** Who has the project open in QualCoder just now, if anyone. */
export function lockHolder(project: string): LockState | undefined {
  const holder = readLock(project);
  return holder && !isStale(holder) ? holder : undefined;
}

function hold(path: string, note: string, user: string, first: string, stateDir: string): ProjectLock {
  makeFolder(stateDir);
  let text = first;
  const remember = () => writeFileSync(note, JSON.stringify({ pid: process.pid, text }));
  remember();
  const beat = setInterval(() => {
    text = `${user}\n${Date.now() / 1000}`;
    remember();
    writeFileSync(path, text);
  }, HEARTBEAT_MS);
  beat.unref();
  return {
    release() {
      clearInterval(beat);
      breakLock(path, { text });
      rmSync(note, { force: true });
    },
  };
}

/** Removes exactly this lock: one that another process put in its place since then goes back where it was. */
function breakLock(path: string, lock: { readonly text: string }): void {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (readFileSync(aside, 'utf8') === lock.text) rmSync(aside, { force: true });
  else renameSync(aside, path);
}

function create(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new ToolError('not_allowed', `The project directory is not writable: ${path}.`, { cause: error });
  }
}

function readLock(project: string): LockState | undefined {
  try {
    const text = readFileSync(join(project, FILE), 'utf8').slice(0, 4096);
    const [user = '', seconds = ''] = text.split(/\r?\n/);
    return { user: user.trim() || 'unknown', at: new Date(Number.parseFloat(seconds) * 1000 || 0), text };
  } catch {
    return undefined;
  }
}

/** A time ahead of our clock is believed for as long as one behind it. */
const isStale = (holder: LockState) => Math.abs(Date.now() - holder.at.getTime()) > STALE_MS;

function leftByUs(note: string, holder: LockState): boolean {
  try {
    const ours = JSON.parse(readFileSync(note, 'utf8')) as { pid: number; text: string };
    return ours.text === holder.text && !isAlive(ours.pid);
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const inUse = (holder: LockState) =>
  new ToolError(
    'busy',
    `The project is open in QualCoder (user ${holder.user}). Nothing was changed. Close the project there, then send the call again.`,
    { detail: { user: holder.user } },
  );

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container without a name for its user id.
    return 'countersign';
  }
}
