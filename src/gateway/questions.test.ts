import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../contract/json.ts';
import type { Outcome } from '../contract/outcome.ts';
import type { ServerSettings } from '../contract/servers.ts';
import type { ClientAsk } from '../contract/tool.ts';
import { answersFrom } from './asking.ts';
import { governedAsk } from './questions.ts';

const SETTINGS = { may_ask: ['elicitation', 'sampling'] } as unknown as ServerSettings;
const elicit = { method: 'elicitation/create', params: { message: 'Name?' } };
const sample = { method: 'sampling/createMessage', params: { maxTokens: 1 } };

/** A client that answers each request with its key, and a policy that refuses these tools. */
function world(declared: JsonObject, refused: readonly string[] = []) {
  const rounds: string[][] = [];
  const client: ClientAsk = {
    capabilities: declared,
    put: async (requests) => {
      rounds.push(Object.keys(requests));
      return Object.fromEntries(Object.keys(requests).map((key) => [key, { said: key }]));
    },
  };
  const called: string[] = [];
  const call = async (tool: string, args: JsonObject, options?: { ask?: ClientAsk }): Promise<Outcome> => {
    called.push(tool);
    if (refused.includes(tool)) return { status: 'refused', rule: 'r' } as unknown as Outcome;
    const { question } = (await options?.ask?.put({ question: args })) ?? {};
    return { status: 'ok', data: question ?? null, notes: {}, replayed: false };
  };
  const ask = governedAsk('s', SETTINGS, { ask: client, call });
  if (!ask) throw new Error('The client can be asked nothing.');
  return { ask, rounds, called };
}

describe('questions of a server', () => {
  it('reach the client together, each evaluated as a call of its own', async () => {
    const { ask, rounds, called } = world({ elicitation: {}, sampling: {} });
    expect(await ask.put({ a: elicit, b: sample })).toEqual({ a: { said: 'a' }, b: { said: 'b' } });
    expect(rounds).toEqual([['a', 'b']]);
    expect(called).toEqual(['s.asks.elicitation', 's.asks.sampling']);
  });

  it('of a kind that the client did not declare, or that is unknown, reach no one', async () => {
    const { ask, rounds, called } = world({ elicitation: {} });
    expect(ask.capabilities).toEqual({ elicitation: {} });
    const asked = { a: elicit, b: sample, c: { method: 'tools/call', params: {} }, d: 'nonsense' };
    expect(await ask.put(asked)).toEqual({ a: { said: 'a' } });
    expect(rounds).toEqual([['a']]);
    expect(called).toEqual(['s.asks.elicitation']);
    await expect(answersFrom(ask, asked)).rejects.toThrow('Policy refused what the server asked');
  });

  it('that policy refuses are declined where the protocol can say so, and the others are put all the same', async () => {
    const { ask, rounds } = world({ elicitation: {}, sampling: {} }, ['s.asks.elicitation']);
    expect(await ask.put({ a: elicit, b: sample })).toEqual({ a: { action: 'decline' }, b: { said: 'b' } });
    expect(rounds).toEqual([['b']]);
  });

  it('are impossible where the client declared nothing or none was allowed', () => {
    const client = { capabilities: { roots: {} }, put: async () => ({}) };
    expect(governedAsk('s', SETTINGS, { ask: client, call: async () => ({}) as Outcome })).toBeUndefined();
    expect(governedAsk('s', SETTINGS, { ask: undefined, call: async () => ({}) as Outcome })).toBeUndefined();
  });
});
