import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { hasEnded, ownProcess } from './process-identity.ts';

/** The name that another process of this machine would have. */
const nameOf = (pid: number, start = ''): string => {
  const [host, space] = ownProcess().split(':');
  return [host, space, pid, start].join(':');
};

describe('the name of a process', () => {
  it('says that a living process has not ended', () => {
    expect(hasEnded(ownProcess())).toBe(false);
    expect(hasEnded(nameOf(process.ppid))).toBe(false);
  });

  it('says that a process has ended once it is gone', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(child, 'spawn');
    const name = nameOf(child.pid ?? 0);
    expect(hasEnded(name)).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(hasEnded(name)).toBe(true);
  });

  it('tells a process from a later one with the same ID by its start time', () => {
    expect(hasEnded(nameOf(process.ppid, '1'))).toBe(process.platform !== 'win32');
  });

  it('is not believed dead on another machine, in another container or when unreadable', () => {
    const [host, space, , start] = ownProcess().split(':');
    const gone = 2 ** 22 + 1;
    expect(hasEnded(['elsewhere', space, gone, start].join(':'))).toBe(false);
    expect(hasEnded([host, 'other', gone, start].join(':'))).toBe(false);
    expect(hasEnded('dead')).toBe(false);
    expect(hasEnded(`${host}:${process.pid}:0b5e`)).toBe(false);
  });
});
