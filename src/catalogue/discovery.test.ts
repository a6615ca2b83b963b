import { describe, expect, it } from 'vitest';
import { ToolError } from '../contract/errors.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { ToolContext } from '../contract/tool.ts';
import type { BoundTool } from '../contract/toolkit.ts';
import { noHost, source, tool, toolkit } from './catalogue.fixture.ts';
import { plain } from './dialect.ts';
import { createDiscovery } from './discovery.ts';
import { createInventory } from './inventory.ts';
import { manifestOf } from './manifest.ts';

const tools = [
  tool('pen_list', { summary: 'Lists all pens.' }),
  tool('pen_buy', { effect: 'change', summary: 'Buys one pen.', requires: { db: true, scopes: ['shop'] } }),
  tool('invoice_pay', { effect: 'destroy', summary: 'Pays for pens and paper.' }),
];
const boundTools = async (): Promise<readonly BoundTool[]> =>
  (await (await createInventory([source(toolkit('pens', tools))], noHost)).load('pens')).tools;

describe('discovery', () => {
  const run = async (name: string, args: JsonObject): Promise<unknown> => {
    const found = createDiscovery(boundTools).find((one) => one.tool.name === name);
    return found?.tool.run(args, { services: await found.services() } as ToolContext<unknown>);
  };

  it('ranks tools by name before those that only mention the word', async () => {
    expect(await run('search_tools', { query: 'pen' })).toMatchObject({
      total: 3,
      tools: [{ name: 'pen_buy' }, { name: 'pen_list' }, { name: 'invoice_pay' }],
    });
  });

  it('reports what matches the request, not every tool that shares a common word with it', async () => {
    for (const query of ['Buy a PEN!', 'I want to buy a pen for my aunt'])
      expect(await run('search_tools', { query }), query).toMatchObject({
        total: 1,
        tools: [{ name: 'pen_buy' }],
      });
    expect(await run('search_tools', { query: 'how do I use the' })).toEqual({ total: 0, tools: [] });
  });

  it('finds a name by another form of its word', async () => {
    expect(await run('search_tools', { query: 'invoices' })).toMatchObject({
      tools: [{ name: 'invoice_pay' }],
    });
  });

  it('returns no more than the limit, with the total, and nothing for unknown words', async () => {
    expect(await run('search_tools', { query: 'pen', limit: 1 })).toMatchObject({
      total: 3,
      tools: [{ name: 'pen_buy', effect: 'change', toolkit: 'pens' }],
    });
    expect(await run('search_tools', { query: 'zeppelin' })).toEqual({ total: 0, tools: [] });
  });

  it('describes a tool with its schema', async () => {
    expect(await run('describe_tool', { name: 'pen_buy' })).toMatchObject({
      description: 'Buys one pen.',
      input_schema: { properties: { text: { type: 'string' } } },
    });
  });

  it.each(['describe_tool', 'call_tool'])('reports an unknown name from %s as not found', async (name) => {
    await expect(run(name, { name: 'pencil' })).rejects.toThrow('Tool "pencil" not found.');
    await expect(run(name, { name: 'pencil' })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a manifest', () => {
  it('is sorted by name and states effect, needs and error codes', async () => {
    const manifest = manifestOf(await boundTools(), 'write', '1.0.0');
    expect(manifest).toMatchObject({ countersign_version: '1.0.0', profile: 'write', tool_count: 3 });
    expect(manifest.tools.map(({ name, mutation }) => [name, mutation])).toEqual([
      ['invoice_pay', true],
      ['pen_buy', true],
      ['pen_list', false],
    ]);
    expect(manifest.tools[1]).toMatchObject({
      requires_db: true,
      requires_llm: false,
      requires_scopes: ['shop'],
      possible_error_codes: ['conflict', 'unavailable'],
    });
  });
});

describe('the plain dialect', () => {
  const fault = new ToolError('busy', 'Still running.', { detail: { first_call: 'c1' } });
  const show = async (outcome: Outcome) => {
    const [bound] = await boundTools();
    if (!bound) throw new Error('No tool.');
    const finished = {
      tool: bound.tool,
      dialect: plain,
      callId: 'c2',
      outcome,
      evidenceHash: undefined,
      elapsedMs: 1,
      runId: undefined,
      args: { text: 'a' },
      dryRun: false,
    };
    const body = plain.body(finished, { mode: 'autopilot', approvalMode: false });
    return { body, text: plain.text?.(finished, body), isError: plain.isError(outcome) };
  };

  it('shows data as it is, and wraps what is not an object', async () => {
    const ok = (data: JsonObject | string[]): Outcome => ({ status: 'ok', data, notes: {}, replayed: false });
    expect(await show(ok({ text: 'Hello', n: 1 }))).toEqual({
      body: { text: 'Hello', n: 1 },
      text: 'Hello',
      isError: false,
    });
    expect((await show(ok(['a']))).body).toEqual({ value: ['a'] });
  });

  it('shows an error with code, hint and detail, and a refusal with its rule', async () => {
    const error = {
      code: 'busy',
      message: 'Still running.',
      retryable: true,
      hint: fault.hint,
      detail: { first_call: 'c1' },
    };
    expect(await show({ status: 'failed', fault })).toEqual({
      body: { error },
      text: 'Error: Still running.',
      isError: true,
    });
    expect((await show({ status: 'refused', rule: 'rule:r', fault })).body).toEqual({
      error: { ...error, rule: 'rule:r' },
    });
  });

  it('says of a routed call that nothing was done, and does not call it an error', async () => {
    const routed = await show({
      status: 'routed',
      approvalId: 7,
      approvalUuid: 'u',
      reason: 'rule',
      rule: 'r',
    });
    expect(routed.body).toEqual({
      routed_to_approval: true,
      approval_id: 'u',
      approval_queue_id: 7,
      reason: 'rule',
    });
    expect(routed.text).toContain('Nothing was done; do not retry');
    expect(routed.isError).toBe(false);
  });

  it('shows what a dry run would execute', async () => {
    const dry = { status: 'dry_run', notes: {}, rule: 'r', data: { n: 1 } } as const;
    expect((await show(dry)).body).toEqual({
      dry_run: true,
      would_execute: 'pen_list',
      arguments: { text: 'a' },
      preview: { n: 1 },
    });
  });
});
