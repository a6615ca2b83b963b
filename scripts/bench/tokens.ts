import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { openStdio } from './measure.ts';
import type { Row } from './table.ts';

/** What a client hands its model: name, description and input schema of every listed tool. */
async function listingTokens(args: readonly string[]): Promise<number> {
  const peer = await openStdio(['dist/main.js', 'mcp', 'serve', ...args]);
  const { tools } = await peer.client.listTools();
  await peer.close();
  return countTokens(
    JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))),
  );
}

export async function tokenRows(): Promise<Row[]> {
  const row = (what: string, tokens: number, budget: number): Row => ({
    what,
    bare: `${budget}`,
    ours: `${tokens}`,
    ratio: tokens / budget,
    budget: 1,
    better: 'lower',
  });
  return [
    row('tokens of tools/list, toolkit x, profile write', await listingTokens(['--toolkits', 'x']), 18_000),
    row('tokens of tools/list, discovery', await listingTokens(['--discovery']), 1_200),
  ];
}
