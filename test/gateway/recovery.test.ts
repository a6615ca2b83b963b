import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHome, type Home } from '../e2e/support.ts';
import { reader, type Script } from './scripted.ts';
import { connect, SCRIPTED } from './support.ts';

const MAIN = resolve(process.env.TEST_DIST ?? 'dist', 'main.js');
const GOOD = [reader('look'), reader('list'), reader('tell')];

let home: Home;
let script: string;
let client: Client;
const write = (next: Script): void => writeFileSync(script, JSON.stringify(next));
const starts = (): number => readFileSync(`${script}.starts`, 'utf8').trim().split('\n').length;
const call = async (name: string): Promise<string> => {
  const { content } = await client.callTool({ name: `s__${name}`, arguments: {} });
  return (content as { text: string }[])[0]?.text ?? '';
};

/** The server announces a change, and what it then lists is no good: one tool is gone, another is no definition. */
beforeEach(async () => {
  home = createHome();
  script = join(home.dir, 'script.json');
  write({ tools: GOOD });
  home.cli('servers', 'add', 's', '--yes', '--', process.execPath, SCRIPTED, script);
  client = await connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'mcp', 'serve', '--toolkits', 's'],
      env: { PATH: process.env.PATH ?? '', HOME: home.dir, COUNTERSIGN_HOME: home.dir },
      stderr: 'ignore',
    }),
  );
  expect(await call('look')).toBe('done');
});
afterEach(async () => {
  await client.close();
  home.close();
});

const announceBad = async (more: Partial<Script>): Promise<void> => {
  write({ tools: [{ name: 'look' }, reader('tell')], answers: { tell: { changed: true } }, ...more });
  await call('tell');
  await expect.poll(() => call('look'), { timeout: 30_000 }).toContain('no longer offers');
};

describe('after one bad listing', () => {
  it.each([
    ['servers show --refresh', ['servers', 'show', 's', '--refresh']],
    ['servers trust', ['servers', 'trust', 's', '--yes']],
  ])('%s recovers, in the process that serves the client', async (_name, command) => {
    await announceBad({});
    write({ tools: GOOD });
    home.cli(...command);
    await expect.poll(() => call('look'), { timeout: 30_000 }).toBe('done');
  });

  it('servers restart recovers where only a new process lists well', async () => {
    await announceBad({ listing: { result: { tools: [reader('tell'), null, { name: 'look' }] } } });
    write({ tools: GOOD });
    const before = starts();
    home.cli('servers', 'restart', 's');
    await expect.poll(() => call('look'), { timeout: 30_000 }).toBe('done');
    expect(starts()).toBe(before + 1);
    expect(home.cli('audit', 'verify')).toContain('No problems found');
  });
});
