import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import { isChange, type Preparation } from '../../contract/tool.ts';
import { digest } from '../../lib/canonical.ts';
import type { Ports } from '../ports.ts';
import { changesPaused, isPaused } from '../store/pause.ts';
import type { CallState, Next, Step } from './call.ts';
import { policyQuery } from './decide.ts';
import { Deadline } from './run.ts';

/**
 * Lets a tool complete its arguments (a text that a model writes) before anyone decides about them. From here on the
 * complete call is the call: it is checked, decided, queued, recorded and run, and the digest of what was sent stays in
 * its evidence. What policy denies or only shows is not prepared.
 */
export const prepareArgs =
  (ports: Ports): Step =>
  (call, next) => {
    const { bound, approval } = call.request;
    if (approval) {
      call.isPrepared = approval.context.asked_digest !== undefined;
      return next(call);
    }
    const preparation = bound.tool.prepare?.(call.args);
    return preparation ? prepareThen(call, next, preparation, ports) : next(call);
  };

async function prepareThen(
  call: CallState,
  next: Next,
  preparation: Preparation<unknown>,
  ports: Ports,
): Promise<Outcome> {
  const { bound } = call.request;
  const { tool } = bound;
  const { action } = ports.policy.current.decide(policyQuery(call, ports.now()));
  if (action !== 'allow' && action !== 'ask') return next(call);
  // Completing may reach a model; while changes are paused nothing is asked of it.
  if (isChange(tool.effect) && (await isPaused(ports.database.db)))
    return { status: 'refused', rule: 'hard:paused', fault: changesPaused() };
  const waiting = await findWaiting(call, ports);
  if (waiting) adopt(call, waiting.args);
  else {
    adopt(call, await complete(call, preparation, ports));
    if (tool.check) await tool.check(call.args, await bound.services());
  }
  return next(call);
}

const findWaiting = (call: CallState, { queue }: Ports): Promise<Approval | undefined> => {
  const { replayKey, askedDigest, request } = call;
  return queue.findPrepared({ replayKey, askedDigest, bound: request.bound, principal: request.principal });
};

async function complete(
  call: CallState,
  preparation: Preparation<unknown>,
  ports: Ports,
): Promise<JsonObject> {
  const { bound, signal: cancelled } = call.request;
  const { tool } = bound;
  const ms = tool.deadlineMs ?? ports.limits.deadlineMs;
  const deadline = new Deadline(ms, cancelled);
  let prepared: JsonObject;
  try {
    prepared = await preparation.complete({ services: await bound.services(), signal: deadline.signal });
    deadline.throwIfPassed();
  } catch (cause) {
    if (cause instanceof ToolError || !deadline.passed) throw cause;
    const late = cancelled?.aborted !== true;
    throw new ToolError(
      late ? 'timeout' : 'cancelled',
      late
        ? `${tool.name} did not complete its arguments within ${Math.round(ms / 1000)} s. Nothing was done.`
        : `The client cancelled ${tool.name}. Nothing was done.`,
      { cause },
    );
  } finally {
    deadline.close();
  }
  const parsed = tool.input.parse(prepared);
  if (!parsed.ok || tool.prepare?.(parsed.value as JsonObject))
    throw new ToolError('internal', `${tool.name} could not complete its arguments (call ${call.id}).`);
  return parsed.value as JsonObject;
}

function adopt(call: CallState, args: JsonObject): void {
  call.args = args;
  call.digest = digest(call.request.bound.tool.name, args);
  call.isPrepared = true;
  call.evidence = { ...call.evidence, asked_digest: call.askedDigest };
}
