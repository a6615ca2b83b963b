import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADA, openWithProject } from '../test/support/kernel.ts';
import { INTERVIEW } from '../test/support/qualcoder.ts';

let world: Awaited<ReturnType<typeof openWithProject>>;
beforeEach(async () => {
  world = await openWithProject();
});
afterEach(() => world.close());

const worry = INTERVIEW.indexOf('I worry');
const idea = { source_id: 1, code_id: 2, start_pos: worry, end_pos: worry + 19 };

describe('a repeated suggestion', () => {
  it('reports the stored values, not its own', async () => {
    const first = await world.data('suggest_code_application', {
      ...idea,
      rationale: 'copes',
      confidence: 85,
    });
    const again = await world.data('suggest_code_application', {
      ...idea,
      rationale: 'other',
      confidence: 10,
    });
    expect(again).toEqual({ ...first, already_pending: true });
    const code = await world.data('suggest_new_code', { name: 'Sleep', rationale: 'a', color: '#112233' });
    expect(await world.data('suggest_new_code', { name: 'sleep', rationale: 'b', confidence: 5 })).toEqual({
      ...code,
      already_pending: true,
    });
    const metadata = await world.data('suggest_source_metadata', { source_id: 1, topics: ['money'] });
    expect(await world.data('suggest_source_metadata', { source_id: 1, topics: ['health'] })).toEqual({
      ...metadata,
      already_pending: true,
    });
    const merge = { source_code_id: 1, target_code_id: 2 };
    const merged = await world.data('suggest_merge_codes', { ...merge, rationale: 'same' });
    expect(await world.data('suggest_merge_codes', { ...merge, rationale: 'alike' })).toEqual({
      ...merged,
      already_pending: true,
    });
  });

  it('is found again after a person edited, rejected or withdrew the stored one', async () => {
    const { approvals } = world.kernel;
    const { suggestion_id } = await world.data<{ suggestion_id: string }>('suggest_code_application', idea);
    const stored = await approvals.get(suggestion_id);
    await approvals.edit(suggestion_id, ADA, { ...stored?.args, end_pos: worry + 7 });
    const second = await world.data<{ suggestion_id: string }>('suggest_code_application', idea);
    expect(second.suggestion_id).not.toBe(suggestion_id);
    await approvals.reject(second.suggestion_id, ADA, { reason: 'no' });
    const third = await world.data<{ suggestion_id: string }>('suggest_code_application', idea);
    expect(third).toMatchObject({
      previously_rejected: { suggestion_id: second.suggestion_id, reason: 'no' },
    });
    await approvals.withdraw(third.suggestion_id, ADA);
    const fourth = await world.data<{ suggestion_id: string }>('suggest_code_application', idea);
    expect(fourth.suggestion_id).not.toBe(third.suggestion_id);
  });

  it('reads only what is new in the queue', async () => {
    const { approvals } = await world.services();
    const read: number[] = [];
    const page = approvals.page.bind(approvals);
    approvals.page = async (filter) => {
      const rows = await page(filter);
      read.push(rows.length);
      return rows;
    };
    for (let at = 0; at < 12; at += 1)
      await world.data('suggest_code_application', { ...idea, start_pos: at, end_pos: at + 5 });
    expect(read.length).toBeGreaterThan(0);
    expect(Math.max(...read)).toBeLessThanOrEqual(1);
  });
});

describe('values outside their range', () => {
  it('are refused', async () => {
    for (const confidence of [-1, 101, 1000])
      expect(await world.fault('suggest_code_application', { ...idea, confidence })).toBe('invalid_input');
    for (const min_confidence of [-1, 101])
      expect(await world.fault('auto_suggest_codes', { source_id: 1, min_confidence })).toBe(
        'validation_error',
      );
    for (const topics of [[], [''], ['money', '  ']])
      expect(await world.fault('suggest_source_metadata', { source_id: 1, topics })).toBe('validation_error');
    expect(await world.kernel.approvals.count({ states: ['pending'] })).toBe(0);
  });
});
