import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Names this process in a shared database, so that others on this machine can see that it has ended. */
export const ownProcess = (): string => {
  own ??= [encodeURIComponent(hostname()), space(), process.pid, startOf(process.pid) ?? ''].join(':');
  return own;
};
let own: string | undefined;

/**
 * Whether a process named by `ownProcess` has certainly ended. A process ID alone would not do: it is given away again,
 * and means another process in a container. Where nothing is certain, the answer is no.
 */
export function hasEnded(name: string): boolean {
  const [host, place, pid, start = ''] = name.split(':');
  if (host !== encodeURIComponent(hostname()) || place !== space()) return false;
  const id = Number(pid);
  if (!Number.isSafeInteger(id) || id <= 0 || id === process.pid) return false;
  if (!exists(id)) return true;
  const started = startOf(id);
  return start !== '' && started !== undefined && started !== start;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Within what process IDs and start times mean something: this boot and this PID namespace. Empty without /proc. */
function space(): string {
  if (process.platform !== 'linux') return '';
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
    return `${boot}-${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`;
  } catch {
    return '';
  }
}

/** When a process started, in the words of the operating system; undefined where it does not say. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name in parentheses may itself hold spaces; the start time is the 20th field after it.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // A zombie has ended; only its parent has not read that yet.
      return fields[0] === 'Z' ? 'ended' : fields[19];
    }
    if (process.platform === 'win32') return undefined;
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      timeout: 2000,
    });
    return encodeURIComponent(text.trim());
  } catch {
    return undefined;
  }
}
