import { performance } from 'node:perf_hooks';
import type { Outcome } from '../../contract/outcome.ts';
import { uuidv7 } from '../../lib/random.ts';
import type { Ports } from '../ports.ts';
import { admitChange } from './admit.ts';
import type { CallRequest, CallResult, CallState, Next, Step } from './call.ts';
import { checkCaller } from './caller.ts';
import { decidePolicy } from './decide.ts';
import { cleanRequest } from './labels.ts';
import { prepareArgs } from './prepare.ts';
import { recordOutcome } from './record.ts';
import { replayEqual } from './replay.ts';
import { runHandler } from './run.ts';
import { beginTrace, endTrace } from './tracing.ts';
import { checkMeaning, containErrors, validateInput } from './validate.ts';

export type Invoke = (request: CallRequest) => Promise<CallResult>;

/** The only way to run a tool. Read the list from the top: each step wraps the ones below it. */
export function createPipeline(ports: Ports): Invoke {
  const run = compose([
    ['record', recordOutcome(ports)], // outermost: refusals, crashes and dry runs leave evidence too
    ['contain', containErrors(ports)], // below this line anything may throw, above it nothing does
    ['validate', validateInput()], // strict: an unknown argument is refused, not dropped
    ['caller', checkCaller(ports)], // a paused agent, or one whose share is used up
    ['replay', replayEqual(ports)], // the same key and digest: the first answer again
    ['check', checkMeaning()], // what no schema can say: length, duplicates, positions
    ['prepare', prepareArgs(ports)], // what a tool completes first, so that people decide on the complete call
    ['decide', decidePolicy(ports)], // allow | deny | ask | dry-run; asking stores the whole call for a person
    ['admit', admitChange(ports)], // pause, claim, permit, limits and intent, in one durable transaction
    ['run', runHandler(ports)],
  ]);
  return async (request) => {
    const call = newCall(cleanRequest(request), ports.now());
    call.trace = beginTrace(ports.tracing, call);
    const outcome = await withInbox(call, await run(call), ports);
    const elapsedMs = performance.now() - call.startedMs;
    ports.metrics.record(call, outcome, elapsedMs);
    endTrace(call, outcome);
    return {
      callId: call.id,
      outcome,
      evidenceHash: call.evidenceHash,
      elapsedMs,
      runId: call.runId,
      args: call.args,
      dryRun: call.dryRunRequested,
    };
  };
}

/** Refusals that end when a person acts. */
const LIFTED_BY_PERSON: ReadonlySet<string> = new Set(['paused', 'agent_paused', 'definition_changed']);

/** An agent is told where the person acts, and no command that it could run in their place. */
async function withInbox({ request }: CallState, outcome: Outcome, { queue }: Ports): Promise<Outcome> {
  // What runs under an approval or as a part is answered by the call around it, or by a page.
  const isOutermost = request.approval === undefined && request.parent === undefined;
  if (!isOutermost || request.principal.kind !== 'agent' || !('fault' in outcome)) return outcome;
  const { fault } = outcome;
  if (!LIFTED_BY_PERSON.has(fault.code)) return outcome;
  const { detail, effect, resetAt, result, retryable, ownHint: hint } = fault;
  const message = `${fault.message} A person decides about it in ${await queue.inbox()}`;
  return {
    ...outcome,
    fault: fault.reworded(message, { cause: fault, detail, effect, resetAt, result, retryable, hint }),
  };
}

type NamedStep = readonly [name: string, step: Step];

/** Links the steps once, from the last to the first, so that a call makes no functions of its own. */
const compose = (steps: readonly NamedStep[]): Next =>
  steps.reduceRight<Next>(
    (next, [name, step]) =>
      (call) =>
        call.trace ? call.trace.step(name, async () => step(call, next)) : step(call, next),
    () => {
      throw new Error('The last step must answer.');
    },
  );

/** A call as it enters the first step. */
export function newCall(request: CallRequest, now: Date): CallState {
  return {
    id: uuidv7(now.getTime()),
    request,
    startedAt: now,
    startedMs: performance.now(),
    args: {},
    digest: '',
    askedDigest: '',
    isPrepared: false,
    runId: undefined,
    dryRunRequested: false,
    decision: undefined,
    policyStamp: '',
    limits: [],
    decider: undefined,
    shown: undefined,
    grant: undefined,
    signers: 0,
    standing: undefined,
    replayKey: undefined,
    replayOf: undefined,
    partDone: false,
    admitted: false,
    intentInDoubt: false,
    artifacts: [],
    attachments: [],
    notes: {},
    evidence:
      request.principal.orderedBy === undefined ? undefined : { ordered_by: request.principal.orderedBy },
    evidenceHash: undefined,
    trace: undefined,
  };
}
