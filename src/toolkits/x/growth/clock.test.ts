import { describe, expect, it } from 'vitest';
import * as config from '../config.ts';
import { scheduleTime } from '../tools/drafts.ts';
import { dayOf, instantOf, isActive, localTime, openSlot, timesOn } from './clock.ts';

const schedule = (more: object) => config.schedule.schema.parse(more);
const at = (text: string): Date => new Date(text);

describe('the clock', () => {
  it('reads the wall clock of a zone', () => {
    expect(localTime(at('2026-02-25T23:30:00Z'), 'Asia/Tokyo')).toEqual({
      date: '2026-02-26',
      weekday: 'Thu',
      hour: 8,
      minute: 30,
    });
    expect(localTime(at('2026-02-25T00:00:00Z'), 'UTC').hour).toBe(0);
  });

  it.each([
    ['2026-02-25', '09:15', 'America/New_York', '2026-02-25T14:15:00.000Z'],
    ['2026-07-25', '09:15', 'America/New_York', '2026-07-25T13:15:00.000Z'],
    ['2026-03-29', '03:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    ['2026-10-25', '09:00', 'Europe/Berlin', '2026-10-25T08:00:00.000Z'],
    ['2026-02-25', '00:00', 'Asia/Kathmandu', '2026-02-24T18:15:00.000Z'],
  ])('finds when it is %s %s in %s, summer time and all', (date, time, zone, expected) => {
    expect(instantOf(date, time, zone).toISOString()).toBe(expected);
  });

  it('gives a day of 23 hours when clocks go forward and of 25 when they go back', () => {
    const hours = (day: string): number => {
      const { start, end } = dayOf(at(day), 'Europe/Berlin');
      return (end.getTime() - start.getTime()) / 3_600_000;
    };
    expect(hours('2026-03-29T12:00:00Z')).toBe(23);
    expect(hours('2026-10-25T12:00:00Z')).toBe(25);
    expect(hours('2026-05-05T12:00:00Z')).toBe(24);
  });

  it('knows active hours, also over midnight, and active days', () => {
    const night = schedule({ active_hours_start: 20, active_hours_end: 4 });
    expect(isActive(at('2026-02-25T23:00:00Z'), night)).toBe(true);
    expect(isActive(at('2026-02-25T03:59:00Z'), night)).toBe(true);
    expect(isActive(at('2026-02-25T12:00:00Z'), night)).toBe(false);
    const weekdays = schedule({ active_days: ['Mon', 'Tue'], timezone: 'Asia/Tokyo' });
    expect(isActive(at('2026-02-23T03:00:00Z'), weekdays)).toBe(true);
    expect(isActive(at('2026-02-25T03:00:00Z'), weekdays)).toBe(false);
    expect(
      isActive(at('2026-02-25T03:00:00Z'), schedule({ active_hours_start: 5, active_hours_end: 5 })),
    ).toBe(true);
  });

  it('offers the automatic times, the chosen ones, and other ones on some days', () => {
    expect(timesOn(schedule({ preferred_times: 'auto' }), 'Mon')).toEqual(['09:15', '12:30', '17:00']);
    const chosen = schedule({
      preferred_times: ['18:00', '07:00'],
      preferred_times_override: { Sun: ['10:00'] },
    });
    expect(timesOn(chosen, 'Mon')).toEqual(['07:00', '18:00']);
    expect(timesOn(chosen, 'Sun')).toEqual(['10:00']);
  });

  it('opens a slot for an hour, at most a quarter of an hour from its time, the same for all who look', () => {
    const chosen = schedule({ preferred_times: ['12:00'], timezone: 'Europe/Berlin' });
    const noon = at('2026-02-25T11:00:00Z').getTime();
    expect(openSlot(new Date(noon - 16 * 60_000), chosen)).toBeUndefined();
    const slot = openSlot(new Date(noon + 16 * 60_000), chosen);
    expect(slot?.id).toBe('2026-02-25T12:00');
    expect(Math.abs((slot?.at.getTime() ?? 0) - noon)).toBeLessThanOrEqual(15 * 60_000);
    expect(openSlot(new Date(noon + 20 * 60_000), chosen)).toEqual(slot);
    expect(openSlot(new Date(noon + 76 * 60_000), chosen)).toBeUndefined();
  });
});

describe('a scheduled time', () => {
  const now = at('2026-02-25T12:00:00Z');
  it.each([
    ['2026-03-01T09:15:00Z', '2026-03-01T09:15:00.000Z'],
    ['2026-03-01T09:15:00+02:00', '2026-03-01T07:15:00.000Z'],
    ['2026-03-01T09:15', '2026-03-01T08:15:00.000Z'],
    ['2026-03-01 09:15:30', '2026-03-01T08:15:00.000Z'],
  ])('reads %s', (text, expected) => {
    expect(scheduleTime(text, 'Europe/Berlin', now).toISOString()).toBe(expected);
  });

  it.each([
    'tomorrow',
    '2026-02-31T09:00',
    '2026-02-31T09:00:00Z',
    '2026-02-25T11:59:00Z',
    '2028-01-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '',
  ])('refuses %j', (text) => {
    expect(() => scheduleTime(text, 'UTC', now)).toThrow(
      expect.objectContaining({ code: 'validation_error' }),
    );
  });
});
