import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectStdio, createHome, type Home, type Server, startUp } from '../../../../test/e2e/support.ts';
import { type EmbeddingServer, startEmbeddings } from '../../../../test/support/embeddings.ts';
import { makeStudy } from './support/study.ts';

const GONE = [
  'find_similar_content',
  'suggest_codes_for_range',
  'auto_suggest_codes',
  'detect_duplicate_codes',
  'analyze_content_for_codes',
];
const ARGS = {
  find_similar_content: { search_text: 'worry' },
  suggest_codes_for_range: { source_id: 1, start_pos: 0, end_pos: 20 },
  auto_suggest_codes: { source_id: 1 },
  detect_duplicate_codes: {},
  analyze_content_for_codes: { source_id: 1 },
} as const;

describe('[research] ai = "off"', () => {
  let home: Home;
  let server: Server;
  beforeAll(async () => {
    // A policy may go on naming what is gone.
    const config =
      'toolkits = ["research"]\n[research]\nai = "off"\n[mcp_policy]\nblocked_tools = ["auto_suggest_codes"]\n';
    home = createHome(config);
    home.cli('research', 'open', makeStudy(home.dir).path);
    server = await startUp(home);
  });
  afterAll(async () => {
    await server.stop();
    home.close();
  });

  it.each(['http', 'stdio', 'tcp'] as const)(
    'takes the analysis away from clients over %s',
    async (transport) => {
      const { client, close } = await server.connect(transport);
      const { tools } = await client.listTools();
      expect(tools).toHaveLength(47);
      expect(tools.filter(({ name }) => GONE.includes(name))).toEqual([]);
      for (const name of GONE) {
        const args = ARGS[name as keyof typeof ARGS];
        await expect(client.callTool({ name, arguments: args })).rejects.toThrow(name);
      }
      const rest = await client.callTool({ name: 'analyze_uncoded_text', arguments: { source_id: 1 } });
      expect(rest.structuredContent).toMatchObject({ success: true });
      await close();
    },
  );

  it('removes it from discovery too', async () => {
    const { client, close } = await connectStdio(home, ['--discovery']);
    const found = await client.callTool({
      name: 'search_tools',
      arguments: { query: 'find similar content' },
    });
    expect(JSON.stringify(found)).not.toMatch(/find_similar_content|auto_suggest_codes/);
    const inner = { name: 'find_similar_content', arguments: { search_text: 'worry' } };
    const called = await client.callTool({ name: 'call_tool', arguments: inner }).catch(String);
    expect(JSON.stringify(called)).not.toContain('matches');
    await close();
  });

  it('answers the HTTP API with TOOL_NOT_FOUND and lists none of them', async () => {
    const { tools } = (await (await fetch(`${server.url}/tools`)).json()) as { tools: { name: string }[] };
    expect(tools.filter(({ name }) => GONE.includes(name))).toEqual([]);
    for (const name of GONE) {
      const response = await fetch(`${server.url}/tools/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ arguments: ARGS[name as keyof typeof ARGS] }),
      });
      expect(await response.json()).toMatchObject({ success: false, error_code: 'TOOL_NOT_FOUND' });
    }
  });

  it('removes it from the command line, and no index or vector was ever made', () => {
    expect(home.cli('mcp', 'manifest')).not.toMatch(new RegExp(GONE.join('|')));
    const refused = home.failing('call', 'find_similar_content', '--args', '{"search_text":"worry"}');
    expect(refused).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('The configuration disables tool'),
    });
    const files = readdirSync(home.dir, { recursive: true }).map(String);
    expect(files.filter((file) => /(text|vectors|meaning)\.sqlite/.test(file))).toEqual([]);
    expect(files.some((file) => file.endsWith('data.qda'))).toBe(true);
  });
});

describe('searching by meaning while the server runs', () => {
  let home: Home;
  let embeddings: EmbeddingServer;
  beforeAll(async () => {
    embeddings = await startEmbeddings();
    home = createHome(
      `toolkits = ["research"]\n[research.embeddings]\nbase_url = "${embeddings.baseUrl}"\nmodel = "test-embed"\n`,
    );
    const { path, file } = makeStudy(home.dir);
    addInterviews(file);
    home.cli('research', 'open', path);
  });
  afterAll(async () => {
    home.close();
    await embeddings.close();
  });

  const search = async (client: Client) => {
    const args = { search_text: 'money trouble' };
    const { structuredContent } = await client.callTool({ name: 'find_similar_content', arguments: args });
    const reply = structuredContent as {
      data: { sources_searched_by_meaning: number; sources_not_searched_by_meaning: number };
    };
    return reply.data;
  };
  const until = async (client: Client, enough: (found: Awaited<ReturnType<typeof search>>) => boolean) => {
    for (;;) {
      const found = await search(client);
      if (enough(found)) return found;
      // Other calls are answered in the meantime.
      await client.callTool({ name: 'list_codes', arguments: {} });
      await sleep(50);
    }
  };

  it('covers more and more sources, continues after a kill where it was, and ends with all of them', async () => {
    const first = await startUp(home);
    const one = await first.connect('http');
    const begun = await until(one.client, (found) => found.sources_searched_by_meaning >= 1);
    expect(begun.sources_not_searched_by_meaning).toBeGreaterThan(0);
    first.kill();
    await one.close().catch(() => {});

    const second = await startUp(home);
    const two = await second.connect('http');
    const found = await search(two.client);
    expect(found.sources_searched_by_meaning).toBeGreaterThanOrEqual(1);
    await two.close();
    // Stopping in the middle of reading is as clean as any other stop.
    await second.stop();

    const third = await connectStdio(home);
    const done = await until(third.client, (now) => now.sources_not_searched_by_meaning === 0);
    expect(done.sources_searched_by_meaning).toBe(12);
    await third.close();
  });
});

const LINES = [
  'My sister pays the rent when I cannot.',
  'The doctor said that I should rest more often.',
  'We moved here because the school was better for the children.',
  'Nobody told us how long the waiting list would be.',
  'I lie awake and count what is left until the end of the month.',
];

function addInterviews(file: string): void {
  const db = new Database(file);
  const add = db.prepare(
    "INSERT INTO source (id, name, fulltext, mediapath, memo, owner, date) VALUES (?, ?, ?, NULL, '', 'ada', '2024-03-06 09:00:00')",
  );
  for (let at = 0; at < 9; at += 1) {
    const text = Array.from({ length: 40 }, (_, line) => `${LINES[line % LINES.length]} (${at}.${line})`);
    add.run(10 + at, `talk-${at}.txt`, text.join('\n'));
  }
  db.close();
}
