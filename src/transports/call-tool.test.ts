import { ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { plain } from '../catalogue/dialect.ts';
import type { Principal } from '../contract/principal.ts';
import { RPC_ERROR } from '../contract/servers.ts';
import type { BoundTool } from '../contract/toolkit.ts';
import type { CallRequest } from '../kernel/call/call.ts';
import { callPlainTool, callTool, pick } from './call-tool.ts';
import type { QuestionState } from './legs.ts';
import type { Peer, Served } from './served.ts';

const PERSON: Principal = { kind: 'person', id: 'ada' };
const AGENTS: Readonly<Record<string, Principal>> = {
  scout: { kind: 'agent', id: 'scout' },
  other: { kind: 'agent', id: 'other' },
};
const CALLER = { client: undefined, canAsk: true, canLink: false, capabilities: {}, takesTasks: false };
const ANSWER = { decision: { action: 'accept', content: { confirm: true } } };

/** A server whose tools all ask a person; it remembers the consent each call came with. */
function world() {
  const consents: CallRequest['consent'][] = [];
  const used = new Set<string>();
  const served = {
    dialogs: true,
    person: PERSON,
    exposure: {
      options: { discovery: false },
      names: [],
      find: async (name: string) => ({ tool: { name }, toolkit: { id: 'x' }, services: async () => ({}) }),
    },
    authenticate: async (token: string) => AGENTS[token],
    firstUse: async (key: string) => !used.has(key) && used.add(key) !== undefined,
    async invoke({ consent }: CallRequest) {
      consents.push(consent);
      return { outcome: { status: 'needs_person', question: 'Sure?', about: 'shown' } };
    },
  } as unknown as Served;
  let asked: QuestionState | undefined;
  const codec = {
    mint: async (state: QuestionState) => {
      asked = state;
      return 'signed';
    },
  };
  const call = async (tool: string, id: number, token: string, state?: QuestionState) => {
    const context = {
      mcpReq: {
        _meta: {},
        signal: new AbortController().signal,
        requestState: () => state,
        inputResponses: state ? ANSWER : undefined,
        notify: async () => {},
      },
    } as unknown as ServerContext;
    const peer = { transport: 'http', token } as unknown as Peer;
    await callTool(served, peer, CALLER, { name: tool, arguments: { id } }, context, codec as never);
    return consents.at(-1);
  };
  /** Asks the person once and returns the state that their answer would come with. */
  const ask = async () => {
    expect(await call('reject_item', 5, 'scout')).toBe('can-ask');
    if (!asked) throw new Error('no question was asked');
    return asked;
  };
  return { call, ask };
}

describe('an answer given in a dialog', () => {
  it('counts once for the call that asked', async () => {
    const { call, ask } = world();
    const state = await ask();
    const person = { ...PERSON, id: 'ada (dialog of an unnamed client)' };
    expect(await call('reject_item', 5, 'scout', state)).toEqual({ person, about: 'shown' });
    expect(await call('reject_item', 5, 'scout', state)).toBeUndefined();
  });

  it('does not count for another tool or other arguments', async () => {
    const { call, ask } = world();
    const state = await ask();
    expect(await call('approve_item', 5, 'scout', state)).toBe('can-ask');
    expect(await call('reject_item', 6, 'scout', state)).toBe('can-ask');
  });

  it('does not count for another agent', async () => {
    const { call, ask } = world();
    const state = await ask();
    expect(await call('reject_item', 5, 'other', state)).toBe('can-ask');
  });
});

const serving = (names: readonly string[], discovery = false): Served =>
  ({
    exposure: { names, options: { discovery }, find: async () => undefined, reach: async () => undefined },
  }) as unknown as Served;

describe('a tool that is not there', () => {
  it('is named together with the listed one that was probably meant, and no other', async () => {
    const served = serving(['x_post_tweet', 'x_like_tweet', 'get_stats']);
    await expect(pick(served, 'x_pots_tweet', {})).rejects.toMatchObject({
      code: ProtocolErrorCode.InvalidParams,
      message: 'Unknown tool: x_pots_tweet. Did you mean x_post_tweet?',
    });
    await expect(pick(served, 'q'.repeat(500), {})).rejects.toThrow(`Unknown tool: ${'q'.repeat(80)}. `);
    await expect(pick(served, 'make_coffee', {})).rejects.toThrow(
      'Unknown tool: make_coffee. tools/list shows the tools of this session; a person chooses them with --toolkits and --profile.',
    );
  });
});

it('a note of one of our own tools is never taken for a protocol error of a server', async () => {
  const notes = { [RPC_ERROR]: { code: -32_001, message: 'no' } };
  const served = {
    modes: () => ({ mode: 'autopilot', approvalMode: false }),
    invoke: async () => ({ callId: 'c1', outcome: { status: 'ok', data: { done: true }, notes } }),
  } as unknown as Served;
  const owned = { tool: { name: 'do_it' }, toolkit: { dialect: plain } } as unknown as BoundTool;
  const peer: Peer = { transport: 'stdio', principal: PERSON };
  const { signal } = new AbortController();
  const request = { args: {}, client: undefined, meta: undefined, signal };
  expect(await callPlainTool(served, peer, owned, request)).toMatchObject({ isError: false, _meta: notes });
});
