import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, it } from 'vitest';
import { normaliser } from './normalise.ts';
import { expectOnlyPins, expectPin } from './pin.ts';
import { serveReplies } from './reply-world.ts';

type Json = Record<string, unknown>;

const DIALECTS = ['tuitbot', 'toolhub', 'qualcoder', 'plain'] as const;

/** One call for each way to end. The second call with one key gets the stored answer. */
const CALLS: Readonly<Record<string, { tool: string; args: Json; key?: string }>> = {
  ok: { tool: 'reply_succeed', args: { text: 'a', run_id: 'run-1' }, key: 'once' },
  replayed: { tool: 'reply_succeed', args: { text: 'a', run_id: 'run-1' }, key: 'once' },
  routed: { tool: 'reply_asked', args: { text: 'b' } },
  dry_run: { tool: 'reply_previewed', args: { text: 'c' } },
  needs_person: { tool: 'reply_decide', args: { id: 1 } },
  refused: { tool: 'reply_denied', args: { text: 'd' } },
  invalid: { tool: 'reply_succeed', args: { txt: 'e' } },
  failed: { tool: 'reply_fail', args: { code: 'unavailable' } },
  indeterminate: { tool: 'reply_fail', args: { code: 'timeout', unknown: true } },
};

/** The codes as the reference lists them. */
const CODES = [...readFileSync('docs/reference/errors.md', 'utf8').matchAll(/^\| `(\w+)`/gm)].map(
  ([, code]) => code ?? '',
);

afterAll(() =>
  expectOnlyPins(
    'replies',
    DIALECTS.map((dialect) => `${dialect}.json`),
  ),
);

describe.each(DIALECTS)('a reply in the dialect %s', (dialect) => {
  it('is as pinned for every outcome, as MCP result and as REST body', async () => {
    const served = await serveReplies(dialect);
    const questions: unknown[] = [];
    const client = new Client(
      { name: 'pins', version: '1.0.0' },
      { capabilities: { elicitation: { form: {} } } },
    );
    client.setRequestHandler('elicitation/create', async ({ params: { _meta, ...asked } }) => {
      questions.push(asked);
      return { action: 'decline' as const };
    });
    const rest = async (tool: string, args: Json, key?: string): Promise<unknown> => {
      const response = await fetch(`${served.url}/tools/${tool}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key ? { 'idempotency-key': key } : {}) },
        body: JSON.stringify({ arguments: args }),
      });
      return { status: response.status, body: await response.json() };
    };
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)));
      const replies: Record<string, unknown> = {};
      for (const [outcome, { tool, args, key }] of Object.entries(CALLS)) {
        const result = await client.callTool({
          name: tool,
          arguments: args,
          ...(key ? { _meta: { 'countersign/idempotency_key': `mcp-${key}` } } : {}),
        });
        const normalise = normaliser({ fields: /^elapsed_ms$/ });
        replies[outcome] = normalise({ mcp: unfolded(result), rest: await rest(tool, args, key) });
      }
      const byCode: Record<string, unknown> = {};
      for (const code of CODES) {
        const normalise = normaliser({ fields: /^elapsed_ms$|^meta$/ });
        byCode[code] = normalise(await rest('reply_fail_read', { code }));
      }
      expect(CODES.length).toBeGreaterThan(40);
      const unasked = normaliser({})(unfolded(served.unaskedQuestion() as unknown as Json));
      expectPin(`replies/${dialect}.json`, { replies, questions, unasked, by_code: byCode });
    } finally {
      await client.close();
      await served.close();
    }
  });
});

/** Text that is JSON as what it says: as text it would hold ids in an order of its own. */
function unfolded(result: Json): Json {
  const content = (result.content as { type: string; text?: string }[]).map((part) => {
    try {
      return part.type === 'text' ? { ...part, text: JSON.parse(part.text ?? '') as unknown } : part;
    } catch {
      return part;
    }
  });
  return { ...result, content };
}
