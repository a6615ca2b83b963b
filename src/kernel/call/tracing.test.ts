import { describe, expect, it } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { CallState } from './call.ts';
import { ALLOW, DONE, rawCall, toolNamed } from './steps.fixture.ts';
import { beginTrace, type CallTrace, endTrace, type TracedCall, tracedMeta } from './tracing.ts';

const CALLER = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const OURS = `00-${'a'.repeat(32)}-${'c'.repeat(16)}-01`;

const callWith = (meta?: JsonObject, parent?: CallState): CallState =>
  rawCall(toolNamed('ledger_write'), {}, { ...(meta && { meta }), ...(parent && { parent }) });

/** A trace that keeps how it was ended. */
const openTrace = () => {
  const ends: Readonly<Record<string, string>>[] = [];
  const trace: CallTrace = {
    traceparent: OURS,
    step: (_name, work) => work(),
    end: (facts) => void ends.push(facts),
  };
  return { trace, ends };
};

/** The trace context with which a call's trace begins. */
const contextOf = (call: CallState): string | undefined => {
  let begun: TracedCall | undefined;
  const { trace } = openTrace();
  const begin = (one: TracedCall): CallTrace => {
    begun = one;
    return trace;
  };
  expect(beginTrace({ begin }, call)).toBe(trace);
  return begun?.traceparent;
};

describe('a trace', () => {
  it('begins only where calls are traced', () => {
    expect(beginTrace(undefined, callWith())).toBeUndefined();
  });

  it('names the call and nothing of its arguments', () => {
    const call = callWith();
    const begun: TracedCall[] = [];
    beginTrace(
      {
        begin(one) {
          begun.push(one);
          return openTrace().trace;
        },
      },
      call,
    );
    expect(begun).toEqual([
      {
        callId: call.id,
        tool: 'ledger_write',
        toolkit: 'ledger',
        effect: 'change',
        principal: 'agent:local',
        transport: 'test',
        traceparent: undefined,
      },
    ]);
  });

  it("continues the caller's where its context is well-formed", () => {
    expect(contextOf(callWith({ traceparent: CALLER }))).toBe(CALLER);
    for (const traceparent of [
      `${CALLER}0`,
      `x${CALLER}`,
      CALLER.replace('a', 'A'),
      CALLER.replace('01', '1'),
      CALLER.replace('b', ''),
      CALLER.replace('a', ''),
      CALLER.slice(1),
      '',
    ])
      expect(contextOf(callWith({ traceparent }))).toBeUndefined();
    // Read as text, a list of one is well-formed.
    expect(contextOf(callWith({ traceparent: [CALLER] }))).toBeUndefined();
    expect(contextOf(callWith({}))).toBeUndefined();
  });

  it('of a part belongs to that of the whole', () => {
    const parent = callWith();
    expect(contextOf(callWith({ traceparent: CALLER }, parent))).toBe(CALLER);
    parent.trace = openTrace().trace;
    expect(contextOf(callWith({ traceparent: CALLER }, parent))).toBe(OURS);
  });

  it('ends with the status, and the code and decision that there are', () => {
    const { trace, ends } = openTrace();
    const call = callWith();
    endTrace(call, DONE);
    call.trace = trace;
    endTrace(call, DONE);
    endTrace(call, { status: 'failed', fault: new ToolError('conflict', 'Changed.') });
    call.decision = ALLOW;
    endTrace(call, DONE);
    expect(ends).toStrictEqual([
      { status: 'ok' },
      { status: 'failed', code: 'conflict' },
      { status: 'ok', decision: 'allow', rule: 'default' },
    ]);
  });

  it('is passed on in place of the one that the caller sent', () => {
    const call = callWith({ a: 1, traceparent: CALLER });
    expect(tracedMeta(call)).toEqual({ a: 1, traceparent: CALLER });
    call.trace = openTrace().trace;
    expect(tracedMeta(call)).toEqual({ a: 1, traceparent: OURS });
  });
});
