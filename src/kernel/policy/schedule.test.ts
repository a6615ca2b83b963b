import { expect, it } from 'vitest';
import { type PolicySchedule, policyRule } from '../../contract/policy.ts';
import { compileSchedule } from './rules.ts';

const open = (schedule: Partial<PolicySchedule>, at: string): boolean => {
  const rule = policyRule.parse({ id: 'r', action: 'deny', schedule });
  if (!rule.schedule) throw new Error('the schedule was dropped');
  return compileSchedule(rule.schedule)(new Date(at));
};

// 2026-03-02 is a Monday.
it.each<[Partial<PolicySchedule>, string, boolean]>([
  [{ start: '09:00', end: '17:00' }, '2026-03-02T09:00:00Z', true],
  [{ start: '09:00', end: '17:00' }, '2026-03-02T16:59:59Z', true],
  [{ start: '09:00', end: '17:00' }, '2026-03-02T17:00:00Z', false],
  [{ start: '09:00', end: '17:00' }, '2026-03-02T08:59:59Z', false],
  [{ start: '22:00', end: '06:00' }, '2026-03-02T23:00:00Z', true],
  [{ start: '22:00', end: '06:00' }, '2026-03-03T05:59:00Z', true],
  [{ start: '22:00', end: '06:00' }, '2026-03-03T06:00:00Z', false],
  [{ start: '09:00', end: '17:00', days: ['Mon'] }, '2026-03-03T10:00:00Z', false],
  [{ days: ['Mon'] }, '2026-03-02T00:00:00Z', true],
  [{ days: ['Mon'] }, '2026-03-02T23:59:00Z', true],
  [{ days: ['Mon'] }, '2026-03-03T00:00:00Z', false],
  // The window belongs to the day on which it opened.
  [{ start: '22:00', end: '06:00', days: ['Mon'] }, '2026-03-03T03:00:00Z', true],
  [{ start: '22:00', end: '06:00', days: ['Mon'] }, '2026-03-02T03:00:00Z', false],
  [{ start: '22:00', end: '06:00', days: ['Sun'] }, '2026-03-02T03:00:00Z', true],
  [{ start: '09:00', end: '10:00', timezone: 'Europe/Berlin' }, '2026-03-02T08:30:00Z', true],
  [{ start: '09:00', end: '10:00', timezone: 'Europe/Berlin' }, '2026-07-01T07:30:00Z', true],
  [{ start: '09:00', end: '10:00', timezone: 'Europe/Berlin' }, '2026-07-01T08:30:00Z', false],
  // In Kathmandu, five and three quarter hours ahead, Sunday evening UTC is Monday.
  [{ days: ['Mon'], timezone: 'Asia/Kathmandu' }, '2026-03-01T18:15:00Z', true],
  [{ days: ['Mon'], timezone: 'Asia/Kathmandu' }, '2026-03-01T18:14:00Z', false],
  [{ start: '00:00', end: '01:00', timezone: 'America/New_York' }, '2026-03-02T05:30:00Z', true],
])('%j at %s is open: %s', (schedule, at, expected) => {
  expect(open(schedule, at)).toBe(expected);
});

it('gives every minute its own answer although the clock is kept for a minute', () => {
  const inWindow = compileSchedule({ start: '10:00', end: '10:01', timezone: 'UTC', days: ['Mon'] });
  expect(
    ['09:59:59', '10:00:00', '10:00:59', '10:01:00', '10:00:30'].map((time) =>
      inWindow(new Date(`2026-03-02T${time}Z`)),
    ),
  ).toEqual([false, true, true, false, true]);
});
