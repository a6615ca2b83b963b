import { describe, expect, it } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import type { Decision } from '../policy/index.ts';
import type { Ports } from '../ports.ts';
import type { CallRequest, CallState } from './call.ts';
import { decidePolicy, PolicyStale } from './decide.ts';
import { runHandler } from './run.ts';
import { ALLOW, DONE, listeningLog, rawCall, toolNamed, validCall } from './steps.fixture.ts';
import { containErrors, validateInput } from './validate.ts';

const write = toolNamed('ledger_write');

describe('validate', () => {
  const validate = async (call: CallState): Promise<string> => {
    let reached = 'nothing';
    await validateInput()(call, async () => {
      reached = 'the next step';
      return DONE;
    });
    return reached;
  };

  it('fixes arguments and digest, whatever the order of the keys', async () => {
    const one = rawCall(write, { text: 'a', run_id: 'r1' });
    const other = rawCall(write, { run_id: 'r1', text: 'a' });
    expect(await validate(one)).toBe('the next step');
    await validate(other);
    expect(one.digest).toMatch(/\w{20,}/);
    expect(other.digest).toBe(one.digest);
    expect(one.runId).toBe('r1');
  });

  it('lets a part belong to the run of the whole unless it names its own', async () => {
    const parent = { runId: 'r1' } as CallState;
    expect((await validCall(write, { text: 'a' }, { parent })).runId).toBe('r1');
    expect((await validCall(write, { text: 'a', run_id: 'r2' }, { parent })).runId).toBe('r2');
  });

  it('names at most ten issues, and leaves the call without arguments and digest', async () => {
    const many = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`extra${index}`, 1]));
    const call = rawCall(write, { ...many, fail: 'sometimes' });
    const error = await validate(call).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_input' });
    const { issues } = (error as ToolError).detail as { issues: object[] };
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.length).toBeLessThanOrEqual(10);
    expect(call).toMatchObject({ args: {}, digest: '' });
  });
});

describe('contain errors', () => {
  const contain = async (error: unknown) => {
    const { log, lines } = listeningLog();
    const outcome = await containErrors({ log })(rawCall(write, {}), async () => {
      throw error;
    });
    return { outcome, lines };
  };

  it('makes an outcome of a tool error, without a line in the server log', async () => {
    const fault = new ToolError('conflict', 'It has changed.');
    expect(await contain(fault)).toEqual({ outcome: { status: 'failed', fault }, lines: [] });
  });

  it('logs anything else and shows only the call ID', async () => {
    const { outcome, lines } = await contain(new TypeError('secret path'));
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'internal' } });
    expect((outcome as { fault: ToolError }).fault.message).not.toContain('secret path');
    expect(lines).toEqual(['A step of the pipeline failed']);
  });
});

describe('decide', () => {
  interface World {
    readonly decision?: Partial<Decision>;
    readonly permit?: Approval | ToolError;
    readonly refreshed?: () => void;
  }
  const routed: Outcome = { status: 'routed', approvalId: 1, approvalUuid: 'u', reason: 'r', rule: 'r' };
  const LIMIT = { key: 'all', max: 1, periodSeconds: 60, dimension: 'global', match: '*' } as const;

  const portsOf = ({ decision, permit, refreshed }: World): Ports =>
    ({
      now: () => new Date(),
      limits: { agentsMayApprove: false },
      policy: {
        stamp: 's1',
        current: { decide: () => ({ ...ALLOW, ...decision }), limitsFor: () => [LIMIT] },
        refresh: async () => refreshed?.(),
      },
      standing: { find: async () => undefined },
      queue: {
        inbox: async () => 'the inbox',
        ports: { resolve: async () => undefined, signersFor: async () => 0 },
        refreshed: async (rows: readonly Approval[]) => rows,
        route: async () => routed,
        async findPermit() {
          if (permit instanceof ToolError) throw permit;
          return permit;
        },
      },
    }) as unknown as Ports;

  const decide = async (
    world: World,
    tool = write,
    args: object = { text: 'a' },
    more?: Partial<CallRequest>,
  ) => {
    const call = await validCall(tool, args, more);
    let reached = false;
    const outcome = await decidePolicy(portsOf(world))(call, async () => {
      reached = true;
      return DONE;
    });
    return { call, outcome, reached };
  };

  it('lets an allowed change pass with its limits and the stamp of the policy', async () => {
    const { call, reached } = await decide({});
    expect(reached).toBe(true);
    expect(call).toMatchObject({ limits: [LIMIT], policyStamp: 's1', decision: { action: 'allow' } });
  });

  it('counts the parts of a composite instead of the whole', async () => {
    const { call } = await decide({}, toolNamed('ledger_batch'), { texts: ['a'] });
    expect(call.limits).toEqual([]);
  });

  it('refuses what policy denies, with its rule and code', async () => {
    const decision = {
      action: 'deny',
      rule: 'rule:no',
      reason: 'no',
      code: 'policy_denied_blocked',
    } as const;
    const { outcome, reached } = await decide({ decision });
    expect(outcome).toMatchObject({
      status: 'refused',
      rule: 'rule:no',
      fault: { code: 'policy_denied_blocked', message: 'Policy denied: no' },
    });
    expect(reached).toBe(false);
  });

  it('previews a dry run and goes no further', async () => {
    const decision = { action: 'dry_run', rule: 'rule:dry' } as const;
    const previewed = await decide({ decision });
    expect(previewed.outcome).toMatchObject({
      status: 'dry_run',
      data: { would_write: 'a' },
      rule: 'rule:dry',
    });
    expect(previewed).toMatchObject({ reached: false, call: { dryRunRequested: true } });
    const blind = await decide({ decision }, toolNamed('ledger_write_blind'));
    expect(blind).toMatchObject({ reached: false, outcome: { status: 'dry_run', data: undefined } });
  });

  it('stores a call that requires approval, unless a permit or the approval of the whole covers it', async () => {
    const decision = { action: 'ask' } as const;
    expect(await decide({ decision })).toMatchObject({ outcome: routed, reached: false });
    const permit = { id: 3 } as Approval;
    expect(await decide({ decision, permit })).toMatchObject({ reached: true, call: { grant: permit } });
    const parent = { grant: { id: 4 }, dryRunRequested: false } as CallState;
    expect(await decide({ decision }, write, { text: 'a' }, { parent })).toMatchObject({
      reached: true,
      call: { grant: { id: 4 } },
    });
  });

  it('refuses an approval that was given for another call', async () => {
    const approval = { id: 5, digest: 'of another', context: {} } as Approval;
    const decided = await decide({ decision: { action: 'ask' } }, write, { text: 'a' }, { approval });
    expect(decided).toMatchObject({
      reached: false,
      outcome: { status: 'refused', rule: 'hard:approval', fault: { code: 'approval_invalid' } },
    });
  });

  it('refuses a tool that needs a permit without one, also where policy allows it', async () => {
    const permitted = toolNamed('ledger_permitted');
    const args = { text: 'a', approval_id: 'p' };
    const refused = { reached: false, outcome: { status: 'refused', rule: 'hard:permit' } };
    expect(await decide({}, permitted, args)).toMatchObject(refused);
    const permit = new ToolError('approval_invalid', 'Another line.');
    const mismatched = await decide({ permit }, permitted, args);
    expect(mismatched).toMatchObject(refused);
    expect(mismatched.outcome).toMatchObject({ fault: permit });
  });

  it('evaluates again when a rule was edited before admission, and gives up after five times', async () => {
    let refreshes = 0;
    const refreshed = (): void => {
      refreshes += 1;
    };
    const ports = portsOf({ refreshed });
    let stale = 2;
    const step = decidePolicy(ports);
    const next = async (): Promise<Outcome> => {
      if (stale > 0) {
        stale -= 1;
        throw new PolicyStale();
      }
      return DONE;
    };
    expect(await step(await validCall(write, { text: 'a' }), next)).toBe(DONE);
    expect(refreshes).toBe(3);
    stale = 100;
    await expect(step(await validCall(write, { text: 'a' }), next)).rejects.toThrow(PolicyStale);
    expect(stale).toBe(94);
  });

  it('leaves decisions to people', async () => {
    const tool = toolNamed('ledger_write_blind', { effect: 'decide', decides: () => ({ ids: [] }) });
    const person = { kind: 'person', id: 'ada' } as const;
    const decided = await decide({}, tool, { text: 'a' }, { principal: person });
    expect(decided).toMatchObject({ reached: true, call: { decider: person } });
    expect(await decide({}, tool)).toMatchObject({
      reached: false,
      outcome: { status: 'refused', rule: 'hard:person_decides' },
    });
  });
});

describe('run', () => {
  const run = async (tool: Parameters<typeof validCall>[0], more: Partial<CallRequest> = {}) => {
    const { log, lines } = listeningLog();
    const ports = {
      log,
      limits: { deadlineMs: 60_000 },
      now: () => new Date(),
      resolve: async () => ({ tool, toolkit: { id: 'other' } }),
    } as unknown as Ports;
    const call = await validCall(tool, { text: 'a' }, more);
    const outcome = await runHandler(ports)(call, async () => {
      throw new Error('Nothing comes after it.');
    });
    return { call, outcome, lines };
  };
  const unclear = async (): Promise<never> => {
    throw new ToolError('timeout', 'No answer.', { effect: 'unknown' });
  };
  const blind = toolNamed('ledger_write_blind');

  it('gives what the tool returned, noted and attached', async () => {
    const part = { type: 'text', text: 'more' } as const;
    const { outcome, call } = await run({
      ...blind,
      async run(_args, { note, attach, evidence }) {
        note({ a: 1 });
        note({ b: 2 });
        evidence({ tests: 3 });
        attach(part);
        return { written: 'a' };
      },
    });
    expect(outcome).toEqual({
      status: 'ok',
      data: { written: 'a' },
      notes: { a: 1, b: 2 },
      replayed: false,
      content: [part],
    });
    expect(call.evidence).toEqual({ tests: 3 });
  });

  it('calls a change indeterminate when nothing can tell, and a read only failed', async () => {
    expect((await run({ ...blind, run: unclear })).outcome).toMatchObject({
      status: 'indeterminate',
      fault: { code: 'indeterminate', retryable: false, detail: { cause: 'timeout' } },
    });
    expect((await run({ ...blind, effect: 'read', run: unclear })).outcome).toMatchObject({
      status: 'failed',
      fault: { code: 'timeout' },
    });
  });

  it('names a database that fails below the tool, and leaves the outcome of a change open', async () => {
    const fail = async (): Promise<never> => {
      throw Object.assign(new Error('terminating connection'), { code: '57P01' });
    };
    const read = await run({ ...blind, effect: 'read', run: fail });
    expect(read.outcome).toMatchObject({ status: 'failed', fault: { code: 'db_error' } });
    expect((read.outcome as { fault: ToolError }).fault.message).toContain('PostgreSQL is not responding');
    expect(read.lines).toEqual(['A tool failed unexpectedly']);
    expect((await run({ ...blind, run: fail })).outcome).toMatchObject({
      status: 'indeterminate',
      fault: { code: 'indeterminate', detail: { cause: 'db_error' } },
    });
  });

  it('asks the remote service after an unclear failure', async () => {
    const settle = async (reconcile: () => Promise<never>) =>
      (await run({ ...blind, run: unclear, reconcile })).outcome;
    expect(await settle(async () => ({ settled: 'done', data: { written: 'a' } }) as never)).toMatchObject({
      status: 'ok',
      data: { written: 'a' },
    });
    const left = await settle(async () => ({ settled: 'not_done', left: 'A branch remains.' }) as never);
    expect(left).toMatchObject({ status: 'failed', fault: { code: 'timeout', effect: 'none' } });
    expect((left as { fault: ToolError }).fault.message).toBe(
      'No answer. Reconciliation found that it was not finished. A branch remains.',
    );
    expect(await settle(unclear)).toMatchObject({ status: 'indeterminate' });
  });

  it('reports a cancelled call as cancelled and never starts one that was cancelled before', async () => {
    let started = false;
    const signal = AbortSignal.abort(new Error('gone'));
    const tool = {
      ...blind,
      async run() {
        started = true;
        return { written: 'a' };
      },
      reconcile: async () => ({ settled: 'not_done' }) as const,
    };
    expect((await run(tool, { signal })).outcome).toMatchObject({
      status: 'failed',
      fault: { code: 'cancelled' },
    });
    expect(started).toBe(false);
  });

  it('runs no tool of another toolkit on the way', async () => {
    const { outcome } = await run({
      ...blind,
      run: async (_args, { call }) => (await call('x', {})) as never,
    });
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'internal' } });
    expect((outcome as { fault: ToolError }).fault.message).toContain('not a tool of its toolkit');
  });
});
