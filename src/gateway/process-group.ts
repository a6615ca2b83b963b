import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const GRACE_MS = 2_000;
const POLL_MS = 20;

/** Ends every process of a group and waits for it: SIGTERM, 2 s, SIGKILL. */
export async function endGroup(group: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!signalGroup(group, signal)) return;
    const until = Date.now() + GRACE_MS;
    while (Date.now() < until) {
      if (!signalGroup(group, 0)) return;
      await sleep(POLL_MS);
    }
  }
}

/** False when the group has no process left. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    // Windows has no groups; there the process alone is ended.
    process.kill(process.platform === 'win32' ? group : -group, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Reads until its stdin ends, which happens when this process is gone, however it ended; then ends the group. */
const WATCH = 'while read -r _; do :; done; kill -s TERM -- -"$1"; sleep 2; kill -s KILL -- -"$1"';

/**
 * A process killed by SIGKILL ends nothing it started. The watcher outlives it by seconds and ends the group in its
 * place; a shell, because it costs a megabyte where Node costs forty.
 */
export function watchGroup(group: number): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined;
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'countersign-watch', String(group)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.on('error', () => {});
  watcher.stdin?.on('error', () => {});
  // Neither the watcher nor its pipe keeps this process alive.
  watcher.unref();
  (watcher.stdin as unknown as { unref?(): void })?.unref?.();
  return watcher;
}
