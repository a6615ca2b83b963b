import { describe, expect, it } from 'vitest';
import { AGENT, PERSON } from '../../../test/support/kernel.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import type { Tool } from '../../contract/tool.ts';
import { makeBound, makeTool } from './present.fixture.ts';
import { alwaysAsks, canRemember } from './standing.ts';

/** What is read of an approval to say whether it can be remembered. */
const approval = (more: Partial<Approval> = {}): Approval =>
  ({ kind: 'call', rule: 'r', args: { amount: 5 }, requester: AGENT, ...more }) as Approval;
const paid = (amount: number) => ({ movesMoney: (args: JsonObject) => args.amount === amount });

describe('a standing approval', () => {
  it.each<[string, Partial<Tool>]>([
    ['changes data', {}],
    ['moves money with other arguments', paid(0)],
  ])('may answer for a tool that %s', (_words, tool) => {
    expect(alwaysAsks(makeTool(tool), { amount: 5 })).toBeUndefined();
    expect(canRemember(approval(), makeBound(makeTool(tool)))).toEqual({ possible: true, why: null });
  });

  it.each<[string, Partial<Tool>, string]>([
    ['moves money with these arguments', paid(5), 'Calls that move money require approval each time.'],
    ['always moves money', { movesMoney: true }, 'Calls that move money require approval each time.'],
    ['destroys', { effect: 'destroy' }, 'Destructive calls require approval each time.'],
    ['needs permits', { needsPermit: true }, 'This tool requires a permit for each exact call.'],
    ['calls others', { composite: true }, 'A call that makes further calls requires approval each time.'],
    ['only reads', { effect: 'read' }, 'Only changes can be remembered.'],
    ['decides', { effect: 'decide' }, 'Only changes can be remembered.'],
  ])('never answers for a tool that %s', (_words, tool, why) => {
    expect(alwaysAsks(makeTool(tool), { amount: 5 })).toBe(why);
    expect(canRemember(approval(), makeBound(makeTool(tool)))).toEqual({ possible: false, why });
  });

  it.each<[string, Partial<Approval>, string]>([
    ['permits', { kind: 'permit' }, 'A permit covers one exact call.'],
    ['suggestions', { rule: 'proposal' }, 'Suggestions are decided one by one.'],
    ['the calls of people', { requester: PERSON }, 'Only calls of agents can be remembered.'],
  ])('never answers for %s', (_words, more, why) => {
    expect(canRemember(approval(more), makeBound(makeTool()))).toEqual({ possible: false, why });
    expect(canRemember(approval(more), undefined).why).toBe(why);
  });

  it('never answers for a tool that is no longer available', () => {
    const why = 'The tool is no longer available.';
    expect(canRemember(approval(), undefined)).toEqual({ possible: false, why });
  });
});
