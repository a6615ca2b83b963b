import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliCommand, createHome, type Home } from '../../../../test/e2e/support.ts';

interface Usage {
  readonly x: { readonly calls: number; readonly endpoints: readonly { endpoint: string; calls: number }[] };
}

describe('a server that is stopped right after a read', () => {
  let home: Home;
  beforeEach(() => {
    home = createHome('toolkits = ["x"]\n');
  });
  afterEach(() => home.close());

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('has counted it when %s ends it', async (signal) => {
    const client = new Client({ name: 'usage', version: '1' });
    const transport = new StdioClientTransport({ ...cliCommand(home, ['mcp', 'serve']), stderr: 'inherit' });
    await client.connect(transport);
    const ended = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    const { isError } = await client.callTool({
      name: 'x_search_tweets',
      arguments: { query: 'monitoring' },
    });
    expect(isError ?? false).toBe(false);
    // Reads are counted in groups: this one waits in memory.
    process.kill(transport.pid ?? 0, signal);
    await ended;
    const { x } = JSON.parse(home.cli('--json', 'x', 'usage')) as Usage;
    expect(x.endpoints.find(({ endpoint }) => endpoint === 'search_recent')?.calls).toBe(1);
  });
});
