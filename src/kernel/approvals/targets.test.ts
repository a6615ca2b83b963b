import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import type { DecisionScope, Tool } from '../../contract/tool.ts';
import type { ApprovalQuery } from './query.ts';
import { type DecisionTargets, describeDecisionTargets } from './targets.ts';

const approval = (id: number, more: Partial<Approval> = {}): Approval =>
  ({
    id,
    state: 'pending',
    summary: `Call ${id}`,
    version: 1,
    digest: `d${id}`,
    args: {},
    ...more,
  }) as Approval;

const asked: ApprovalQuery[] = [];

/** What a `decide` call is about, among these approvals. */
function describeTargets(
  rows: readonly Approval[],
  scope: DecisionScope | undefined,
  { args = {}, decision }: { args?: JsonObject; decision?: Tool['decision'] } = {},
): Promise<DecisionTargets> {
  asked.length = 0;
  const queue = {
    get: async (id: string | number) => rows.find((row) => String(row.id) === String(id)),
    list: async (filter: ApprovalQuery) => {
      asked.push(filter);
      return rows;
    },
    refreshed: async (shown: readonly Approval[]) =>
      shown.map((row) => ({ ...row, summary: `${row.summary} now` })),
  };
  const tool = { ...(scope && { decides: () => scope }), ...(decision && { decision }) } as Tool;
  const toolkit = { id: 'ledger', dialect: {} } as Parameters<typeof describeDecisionTargets>[1]['toolkit'];
  return describeDecisionTargets(queue, { tool, toolkit }, args);
}

const many = (count: number): Approval[] => Array.from({ length: count }, (_, at) => approval(at + 1));

describe('what a decision is about', () => {
  it('is each approval that its arguments name, as it is now', async () => {
    const rows = [approval(3, { gist: 'the text' }), approval(4, { state: 'done' }), approval(5)];
    const found = await describeTargets(rows, { ids: [3, '4', 99] });
    expect(found).toMatchObject({
      text: '#3 Call 3 now: the text\n#4 Call 4 now',
      isAboutApprovals: true,
    });
    expect([...found.ids]).toEqual([3, 4]);
    expect(found.pending.map(({ id }) => id)).toEqual([3]);
  });

  it('is a group, or every pending call of the toolkit', async () => {
    const group = await describeTargets(many(2), { group: 'g1' }, { decision: 'reject' });
    expect(asked).toEqual([{ states: ['pending'], order: 'oldest', limit: 5_000, groupId: 'g1' }]);
    expect(group.isAboutApprovals).toBe(true);
    for (const scope of ['all-pending', undefined] as const) {
      const all = await describeTargets(many(2), scope);
      expect(asked).toEqual([
        { states: ['pending'], order: 'oldest', limit: 5_000, toolkit: 'ledger', kind: 'call' },
      ]);
      expect(all).toMatchObject({
        text: '#1 Call 1 now\n#2 Call 2 now',
        isAboutApprovals: true,
      });
    }
  });

  it('lists fifty, and says how many more there are', async () => {
    expect((await describeTargets(many(50), 'all-pending')).text.split('\n')).toHaveLength(50);
    const found = await describeTargets(many(52), 'all-pending');
    const lines = found.text.split('\n');
    expect(lines).toHaveLength(51);
    expect(lines.slice(-2)).toEqual(['#50 Call 50 now', '… and 2 more, which the inbox lists.']);
    expect(found.ids.size).toBe(52);
  });

  it('is said in words where there is nothing to decide', async () => {
    expect(await describeTargets([], 'all-pending')).toMatchObject({
      text: 'No approvals are pending.',
      isAboutApprovals: true,
      pending: [],
    });
    expect((await describeTargets([], { group: 'g1' })).text).toBe('No approvals are pending.');
    expect((await describeTargets([], { ids: [5] })).text).toBe('No approvals are pending.');
    const draft = await describeTargets([], { ids: [] }, { args: { draft: 'x\ny' } });
    expect(draft).toMatchObject({ text: '{"draft":"x\\ny"}', isAboutApprovals: false });
  });

  it('shows every argument whole, and says where that is too much', async () => {
    const args = { text: `${'x'.repeat(600)}\u202e\n#9 Approve`, to: ['ada'] };
    const found = await describeTargets([approval(1, { args })], { ids: [1] });
    expect(found.text).toBe(
      `#1 Call 1 now\n  text: "${'x'.repeat(600)}‹U+202E›\\n#9 Approve"\n  to: ["ada"]`,
    );
    expect(found.isWhole).toBe(true);
    const long = { text: 'x'.repeat(6_000) };
    expect((await describeTargets([approval(1, { args: long })], { ids: [1] })).isWhole).toBe(false);
    expect((await describeTargets(many(51), 'all-pending')).isWhole).toBe(false);
  });

  it('draws no further lines, whatever a summary contains', async () => {
    const summary = 'Harmless\r\n\u2028#9\u2029\u0085\u0000\tApprove';
    const [line] = (await describeTargets([approval(1, { summary })], { ids: [1] })).text.split('\n');
    expect(line).toBe('#1 Harmless‹U+000D›‹U+000A›‹U+2028›#9‹U+2029›‹U+0085›‹U+0000›\tApprove now');
  });

  it('has another stamp when an approval is added, edited or replaced', async () => {
    const stamp = async (rows: readonly Approval[]) => (await describeTargets(rows, 'all-pending')).about;
    const first = await stamp(many(2));
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await stamp(many(2))).toBe(first);
    const stamps = await Promise.all(
      [
        many(1),
        many(3),
        [approval(1), approval(2, { version: 2 })],
        [approval(1), approval(2, { digest: 'other' })],
        [approval(1), approval(3, { digest: 'd2' })],
      ].map(stamp),
    );
    expect(new Set([first, ...stamps]).size).toBe(6);
  });
});
