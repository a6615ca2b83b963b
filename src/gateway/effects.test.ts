import { describe, expect, it } from 'vitest';
import { deedWarnings, effectAfter, proposedEffect, soundsLikeMoney } from './effects.ts';

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const READ = { annotations: { readOnlyHint: true } };

describe('the proposed effect', () => {
  it.each([
    ['delete_repo', {}, 'destroy'],
    ['transfer_money', {}, 'destroy'],
    ['bulkRemoveUsers', {}, 'destroy'],
    ['API-delete-a-block', {}, 'destroy'],
    ['HTTPDelete', {}, 'destroy'],
    ['files.drop', {}, 'destroy'],
    ['createPayment', {}, 'destroy'],
    ['send_email', {}, 'change'],
    ['save', {}, 'change'],
    ['sync', { description: 'Permanently deletes what is not in the source.' }, 'destroy'],
    ['settle', { description: 'Pays all open bills.' }, 'destroy'],
    // Never weaker than the annotations, stricter where a name contradicts them.
    ['save', { annotations: { destructiveHint: true } }, 'destroy'],
    ['delete_repo', { annotations: { destructiveHint: false } }, 'destroy'],
    ['delete_repo', READ, 'destroy'],
    ['get_and_delete', READ, 'destroy'],
    ['send_email', READ, 'change'],
    // Reads that speak of what they look at.
    ['get_payment', READ, 'read'],
    ['list_deleted_posts', READ, 'read'],
    ['search', { ...READ, description: 'Does not delete anything.' }, 'read'],
  ])('of %s %j is %s', (name, more, effect) => {
    expect(proposedEffect(tool(name, more))).toBe(effect);
  });

  it('of a changed definition is the confirmed one, unless it now speaks of more', () => {
    const before = tool('sync', { description: 'Syncs.' });
    expect(effectAfter(before, 'read', tool('sync', { description: 'Syncs well.' }))).toBe('read');
    expect(effectAfter(before, 'read', tool('sync', { description: 'Deletes all.' }))).toBe('destroy');
    expect(effectAfter(tool('delete'), 'change', tool('delete', { title: 'Delete' }))).toBe('change');
    expect(effectAfter(tool('look', READ), 'destroy', tool('look'))).toBe('destroy');
  });
});

it('warnings say what name and description speak of, and which claim that contradicts', () => {
  expect(deedWarnings(tool('send_email'))).toEqual(['Its name speaks of sending']);
  expect(deedWarnings(tool('note', { description: 'Publishes and pays.' }))).toEqual([
    'Its description speaks of paying',
    'Its description speaks of publishing',
  ]);
  expect(deedWarnings(tool('delete_repo', READ))).toEqual([
    'Claims to be read-only, but its name speaks of deleting',
  ]);
  expect(deedWarnings(tool('constructor', { description: 'toString __proto__' }))).toEqual([]);
});

it('a description that mentions money is enough to rule out standing approvals', () => {
  expect(soundsLikeMoney(tool('book', { description: 'Creates a payment.' }))).toBe(true);
  expect(soundsLikeMoney(tool('book', { description: 'Reserves a table.' }))).toBe(false);
});
