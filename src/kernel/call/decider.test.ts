import { describe, expect, it } from 'vitest';
import type { Approval } from '../../contract/ports.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Tool } from '../../contract/tool.ts';
import type { Ports } from '../ports.ts';
import type { CallRequest } from './call.ts';
import { decidePolicy } from './decide.ts';
import { ALLOW, DONE, toolNamed, validCall } from './steps.fixture.ts';

const ADA = { kind: 'person', id: 'ada' } as const;
const LIMITED = { status: 'refused', rule: 'hard:person_decides' };

const approval = (id: number, more: Partial<Approval> = {}): Approval =>
  ({
    id,
    state: 'pending',
    tool: 'ledger_write',
    args: { text: `${id}` },
    requester: LOCAL_AGENT,
    version: 1,
    digest: `d${id}`,
    summary: `Write ${id}`,
    ...more,
  }) as Approval;

interface World {
  readonly rows?: readonly Approval[];
  readonly agentsMayApprove?: boolean;
  /** How many people must sign the approval with this ID. */
  readonly signers?: (id: number) => number;
  readonly inboxUrl?: (id: number) => Promise<string | undefined>;
  readonly isGone?: boolean;
  readonly dialogs?: 'local' | 'all' | 'off';
  /** Whether the approval with this ID stays local and can be undone. */
  readonly isContained?: (id: number) => boolean;
}

const decideWith = async (
  { rows = [approval(1), approval(2)], agentsMayApprove = false, signers, inboxUrl, isGone, ...more }: World,
  request: Partial<CallRequest> = {},
  as: Partial<Tool> = {},
) => {
  const tool = toolNamed('ledger_write_blind', {
    effect: 'decide',
    decides: () => ({ ids: rows.map(({ id }) => id) }),
    ...as,
  });
  const ports = {
    now: () => new Date(),
    limits: { agentsMayApprove, dialogs: more.dialogs },
    policy: {
      stamp: 's',
      current: { decide: () => ALLOW, limitsFor: () => [] },
      refresh: async () => {},
    },
    queue: {
      ports: {
        resolve: async () => (isGone ? undefined : { tool }),
        signersFor: async ({ args, requester }: { args: { text: string }; requester: object }) => {
          expect(requester).toBe(LOCAL_AGENT);
          return signers?.(Number(args.text)) ?? 0;
        },
        inboxUrl,
      },
      get: async (id: number) => rows.find((row) => row.id === id),
      inbox: async (id?: number) => `the inbox at https://inbox/${id ?? ''}`,
      isContained: async ({ id }: Approval) => more.isContained?.(id) ?? true,
      refreshed: async (listed: readonly Approval[]) => listed,
    },
  } as unknown as Ports;
  const call = await validCall(tool, { text: 'a' }, request);
  let reached = false;
  const outcome = await decidePolicy(ports)(call, async () => {
    reached = true;
    return DONE;
  });
  return { call, outcome, reached };
};
const inboxUrl = async (id: number) => `https://inbox/${id}`;
/** What the dialog is about that a client puts for this call. */
const aboutOf = async (world: World, more: Partial<Tool> = {}): Promise<string> => {
  const { outcome } = await decideWith(world, { consent: 'can-ask' }, more);
  if (outcome.status !== 'needs_person') throw new Error(`expected a question, got ${outcome.status}`);
  return outcome.about;
};

describe('who decides', () => {
  it('is the person who calls, without a dialog', async () => {
    const { call, reached } = await decideWith({ signers: () => 1 }, { principal: ADA });
    expect([call.decider, call.shown, reached]).toEqual([ADA, undefined, true]);
  });

  it('is an agent where the configuration says so, but never the system', async () => {
    const world = { agentsMayApprove: true };
    expect(await decideWith(world)).toMatchObject({ reached: true, call: { decider: LOCAL_AGENT } });
    const principal = { kind: 'system', id: 'scheduler' } as const;
    expect(await decideWith(world, { principal })).toMatchObject({ reached: false, outcome: LIMITED });
  });

  it('is otherwise a person, in the inbox that the refusal names', async () => {
    const { outcome, call } = await decideWith({});
    const message =
      'Policy denied: agents may not decide approvals. A person decides in the inbox at https://inbox/';
    expect(outcome).toMatchObject({ ...LIMITED, fault: { code: 'policy_denied_hard_rule', message } });
    expect(call.decider).toBeUndefined();
    const one = await decideWith({ rows: [approval(1)] });
    expect(one.outcome).toMatchObject({ fault: { message: `${message}1` } });
  });

  it('is a person in the inbox where a dialog may not decide all of it', async () => {
    const about = await aboutOf({});
    const refusal = { ...LIMITED, fault: { message: expect.stringContaining('a dialog in the client') } };
    const live: World = { isContained: (id) => id !== 2 };
    for (const consent of ['can-ask', { person: ADA, about }] as const) {
      expect(await decideWith(live, { consent })).toMatchObject({ reached: false, outcome: refusal });
      expect(await decideWith({ dialogs: 'off' }, { consent })).toMatchObject({ reached: false });
      // What is not an approval, such as a draft that will be posted, is nothing a dialog shows.
      const draft = { decides: () => ({ ids: [] }) };
      expect(await decideWith({}, { consent }, draft)).toMatchObject({ reached: false, outcome: refusal });
    }
    const all = { ...live, dialogs: 'all' } as const;
    expect(await decideWith(all, { consent: { person: ADA, about } })).toMatchObject({ reached: true });
    // What was decided since is no reason to refuse: the tool says so.
    const decided = { ...live, rows: [approval(1), approval(2, { state: 'done' })] };
    expect((await decideWith(decided, { consent: 'can-ask' })).outcome.status).toBe('needs_person');
  });

  it('is the person who answered a dialog about exactly what is pending now, for that alone', async () => {
    const about = await aboutOf({});
    const consent = { person: ADA, about };
    const answered = await decideWith({}, { consent });
    expect(answered).toMatchObject({ reached: true, call: { decider: ADA } });
    expect(answered.call.shown).toEqual(new Set([1, 2]));
    const edited = { rows: [approval(1), approval(2, { version: 2 })] };
    const again = await decideWith(edited, { consent });
    expect(again).toMatchObject({ reached: false, outcome: { status: 'needs_person' } });
    expect(again.outcome).toEqual({
      status: 'needs_person',
      question:
        'Write without looking back? Requested by agent:local.\n#1 Write 1\n  text: "1"\n#2 Write 2\n  text: "2"',
      about: await aboutOf(edited),
    });
    expect(again.call.decider).toBeUndefined();
  });

  it('is not asked in a dialog that cannot show all of it', async () => {
    const long = { rows: [approval(1, { args: { text: 'x'.repeat(7_000) } })] };
    const { outcome } = await decideWith(long, { consent: 'can-ask' });
    const message = expect.stringContaining('in the inbox');
    expect(outcome).toMatchObject({ fault: { code: 'policy_denied_hard_rule', message } });
  });
});

describe('an approval that only a passkey can approve', () => {
  const world: World = { signers: (id) => (id === 2 ? 2 : 0), inboxUrl };

  it('is shown with the place to sign where the client can show it', async () => {
    const { outcome, reached } = await decideWith(world, { consent: 'can-ask' });
    expect(outcome).toMatchObject({ status: 'needs_person', sign: 'https://inbox/2' });
    expect(reached).toBe(false);
  });

  it('is not decided by an answer in a dialog', async () => {
    const about = await aboutOf({});
    const { outcome, reached } = await decideWith(world, { consent: { person: ADA, about } });
    expect(outcome).toMatchObject({
      ...LIMITED,
      fault: {
        code: 'signature_required',
        detail: { approval_id: 2, signers: 2, signed: 0, sign_url: 'https://inbox/2' },
      },
    });
    expect(reached).toBe(false);
  });

  it('is refused where no one can say where to sign', async () => {
    const nowhere: World = { signers: () => 1 };
    const refused = { ...LIMITED, fault: { code: 'signature_required', detail: { approval_id: 1 } } };
    expect((await decideWith(nowhere, { consent: 'can-ask' })).outcome).toMatchObject(refused);
    const unknown: World = { signers: () => 1, inboxUrl: async () => undefined };
    expect((await decideWith(unknown, { consent: 'can-ask' })).outcome).toMatchObject(refused);
    expect((await decideWith(world)).outcome).toMatchObject({ fault: { code: 'signature_required' } });
  });

  it('can be rejected without one', async () => {
    const more = { decision: 'reject' } as const;
    const about = await aboutOf(world, more);
    expect(await decideWith(world, { consent: { person: ADA, about } }, more)).toMatchObject({
      reached: true,
    });
    const approve = await decideWith(world, { consent: 'can-ask' }, { decision: 'approve' });
    expect(approve.outcome).toMatchObject({ sign: 'https://inbox/2' });
  });

  it('is not looked for among those that were decided, or whose tool is gone', async () => {
    const rows = [approval(1), approval(2, { state: 'done' })];
    expect((await decideWith({ ...world, rows }, { consent: 'can-ask' })).outcome).not.toHaveProperty('sign');
    const gone = await decideWith({ ...world, isGone: true }, { consent: 'can-ask' });
    expect(gone.outcome).toMatchObject({ status: 'needs_person' });
    expect(gone.outcome).not.toHaveProperty('sign');
  });
});
