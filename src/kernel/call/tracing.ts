import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { principalName } from '../../contract/principal.ts';
import type { CallState } from './call.ts';
import { codeOf } from './evidence.ts';

/** What a trace says about a call. Never arguments or results. */
export interface TracedCall {
  readonly callId: string;
  readonly tool: string;
  readonly toolkit: string;
  readonly effect: string;
  readonly principal: string;
  readonly transport: string;
  /** W3C trace context of the caller, or of the call this one is part of. */
  readonly traceparent: string | undefined;
}

export interface CallTrace {
  /** W3C trace context of the current step, for the next call. */
  readonly traceparent: string;
  step(name: string, work: () => Promise<Outcome>): Promise<Outcome>;
  end(facts: Readonly<Record<string, string>>): void;
}

/** Where spans go. Undefined in the kernel's ports unless an operator configured one. */
export interface Tracing {
  begin(call: TracedCall): CallTrace;
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

export function beginTrace(tracing: Tracing | undefined, call: CallState): CallTrace | undefined {
  if (!tracing) return undefined;
  const { bound, principal, transport, parent, meta } = call.request;
  const given = meta?.traceparent;
  const taken = typeof given === 'string' && TRACEPARENT.test(given) ? given : undefined;
  return tracing.begin({
    callId: call.id,
    tool: bound.tool.name,
    toolkit: bound.toolkit.id,
    effect: bound.tool.effect,
    principal: principalName(principal),
    transport,
    traceparent: parent?.trace?.traceparent ?? taken,
  });
}

export function endTrace(call: CallState, outcome: Outcome): void {
  const code = codeOf(outcome);
  const { decision, trace } = call;
  trace?.end({
    status: outcome.status,
    ...(code === undefined ? {} : { code }),
    ...(decision ? { decision: decision.action, rule: decision.rule } : {}),
  });
}

/** The caller's `_meta` for a server further on, which becomes part of this trace. */
export const tracedMeta = ({ request: { meta }, trace }: CallState): JsonObject | undefined =>
  trace ? { ...meta, traceparent: trace.traceparent } : meta;
