import { performance } from 'node:perf_hooks';
import type { Outcome } from '../contract/outcome.ts';
import { uuidv7 } from '../lib/uuid.ts';
import type { CallRequest, CallResult, CallState, Step } from './call.ts';
import type { Ports } from './ports.ts';
import { admitChange } from './steps/admit.ts';
import { checkMeaning } from './steps/check.ts';
import { containErrors } from './steps/contain.ts';
import { decidePolicy } from './steps/decide.ts';
import { recordOutcome } from './steps/record.ts';
import { replayEqual } from './steps/replay.ts';
import { runHandler } from './steps/run.ts';
import { validateInput } from './steps/validate.ts';

export type Invoke = (request: CallRequest) => Promise<CallResult>;

/** The only way to run a tool. Read the list from the top: each step wraps the ones below it. */
export function createPipeline(ports: Ports): Invoke {
  const run = compose([
    recordOutcome(ports), // outermost: refusals, crashes and dry runs leave evidence too
    containErrors(ports), // below this line anything may throw, above it nothing does
    validateInput(), // strict: an unknown argument is refused, not dropped
    replayEqual(ports), // the same key and digest: the first answer again
    checkMeaning(), // what no schema can say: length, duplicates, positions
    decidePolicy(ports), // allow | deny | ask | dry-run; asking stores the whole call for a person
    admitChange(ports), // pause, claim, permit, limits and intent, in one durable transaction
    runHandler(ports),
  ]);
  return async (request) => {
    const call = newCall(request, ports.now());
    const outcome = await run(call);
    return {
      callId: call.id,
      outcome,
      evidenceHash: call.evidenceHash,
      elapsedMs: performance.now() - call.startedMs,
      runId: call.runId,
      args: call.args,
      dryRun: call.dryRunRequested || outcome.status === 'dry_run',
    };
  };
}

function compose(steps: readonly Step[]): (call: CallState) => Promise<Outcome> {
  return (call) => {
    const runFrom = (index: number): Promise<Outcome> => {
      const step = steps[index];
      if (!step) throw new Error('The last step must answer.');
      return step(call, () => runFrom(index + 1));
    };
    return runFrom(0);
  };
}

function newCall(request: CallRequest, now: Date): CallState {
  return {
    id: uuidv7(now.getTime()),
    request,
    startedAt: now,
    startedMs: performance.now(),
    args: {},
    digest: '',
    runId: undefined,
    dryRunRequested: false,
    decision: undefined,
    policyStamp: '',
    limits: [],
    decider: undefined,
    shown: undefined,
    grant: undefined,
    replayKey: undefined,
    replayOf: undefined,
    partDone: false,
    admitted: false,
    artifacts: [],
    attachments: [],
    notes: {},
    evidenceHash: undefined,
  };
}
