import { describe, expect, it } from 'vitest';
import { plain } from '../../catalogue/dialect.ts';
import { ToolError } from '../../contract/errors.ts';
import type { Approval } from '../../contract/ports.ts';
import type { Principal } from '../../contract/principal.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { toolNamed } from '../call/steps.fixture.ts';
import { ADA, AT, approvalOf } from './approvals.fixture.ts';
import { alreadyError, expiredText, obstacleOf, refuseOwn, toolUnavailable } from './refusals.ts';

const agent = (id: string): Principal => ({ kind: 'agent', id });
const SCHEDULER: Principal = { kind: 'system', id: 'scheduler' };

describe('who may decide', () => {
  const inbox = async (id?: number) => `the inbox at https://inbox/${id}`;
  const decide = (requester: Principal, by: Principal, agentsMayApprove: boolean) =>
    refuseOwn(approvalOf({ requester }), by, agentsMayApprove, { inbox });

  it.each([
    ['a person, on anything', agent('local'), ADA, false],
    ['a person, on their own request', ADA, ADA, false],
    ['a named agent, on the request of another', agent('scout'), agent('other'), true],
    ['a named agent, on the request of a person', ADA, agent('other'), true],
    ['an agent without a name, on the request of a person', ADA, agent('local'), true],
  ])('allows %s', async (_who, requester, by, agentsMayApprove) => {
    await expect(decide(requester, by, agentsMayApprove)).resolves.toBeUndefined();
  });

  it.each<[string, Principal, Principal, boolean, string]>([
    ['the system', agent('scout'), SCHEDULER, true, 'the system cannot decide approvals'],
    ['agents unless opened', agent('scout'), agent('other'), false, 'agents may not decide approvals'],
    ['an agent, on its own', agent('scout'), agent('scout'), true, 'may not decide its own request'],
    ['an agent without a name', agent('scout'), agent('local'), true, 'only an agent with its own token'],
    ['requests without a name', agent('local'), agent('other'), true, 'agent:local may have been acting for'],
    ['requests of the scheduler', SCHEDULER, agent('other'), true, 'system:scheduler may have been acting'],
  ])('refuses %s', async (_who, requester, by, agentsMayApprove, why) => {
    const refused = decide(requester, by, agentsMayApprove);
    await expect(refused).rejects.toThrow(why);
    await expect(refused).rejects.toThrow('A person decides in the inbox at https://inbox/7');
    await expect(refused).rejects.toMatchObject({ code: 'policy_denied_hard_rule' });
  });
});

describe('a decision that comes too late', () => {
  it.each<[string, Partial<Approval>, string]>([
    ['someone else came first', { state: 'pending' }, 'Approval 7 was just changed by someone else.'],
    [
      'it has an end',
      { state: 'done', decidedBy: ADA },
      'Approval 7 is already done (decided by person:ada).',
    ],
    ['no one decided it', { state: 'expired' }, 'Approval 7 is already expired.'],
    [
      'its call runs',
      { state: 'approved', decidedBy: ADA },
      'Approval 7 is already approved (decided by person:ada).',
    ],
    ['the permit is done', { state: 'done', kind: 'permit' }, 'Approval 7 is already done.'],
  ])('says that %s', (_why, more, message) => {
    const error = alreadyError(approvalOf(more), 'approve');
    expect(error).toMatchObject({ code: 'approval_state', detail: { id: 7, state: more.state } });
    expect(error.message.replace(' Review it again.', '')).toBe(message);
  });

  it('says how an approved permit can be withdrawn', () => {
    const error = alreadyError(approvalOf({ state: 'approved', kind: 'permit' }), 'approve');
    expect(error.message).toBe(
      'Approval 7 is already approved. A person can withdraw it: countersign approvals withdraw 7',
    );
  });

  it('names the moment of expiry and the missing tool', () => {
    expect(expiredText(approvalOf({ expiresAt: AT }))).toContain('expired at 2026-03-01T12:00:00.000Z.');
    expect(toolUnavailable(approvalOf())).toMatchObject({
      code: 'not_found',
      detail: { id: 7, tool: 'ledger_write' },
    });
  });
});

describe('an obstacle', () => {
  const bound = (obstacle?: BoundTool['toolkit']['obstacle']): BoundTool => ({
    tool: toolNamed('ledger_write'),
    toolkit: { id: 'ledger', dialect: plain, obstacle },
    services: async () => 'services',
  });

  it('is what the toolkit says of a call, and nothing for a permit', async () => {
    const error = new ToolError('not_allowed', 'No project is open.');
    const asked: unknown[] = [];
    const tool = bound(async (approval, services) => {
      asked.push(approval, services);
      return { error };
    });
    const approval = approvalOf();
    expect(await obstacleOf(tool, approval)).toEqual({ error });
    expect(asked).toEqual([approval, 'services']);
    expect(await obstacleOf(tool, approvalOf({ kind: 'permit' }))).toBeUndefined();
    expect(await obstacleOf(bound(), approval)).toBeUndefined();
  });
});
