import { describe, expect, it } from 'vitest';
import { APPROVAL_STATES, type ApprovalKind } from '../../contract/ports.ts';
import { isAllowed, sourcesOf, type TransitionName, targetsOf } from './transitions.ts';

/** Sources and targets of every transition; those after the bar are for permits alone. */
const TABLE: Readonly<Record<TransitionName, string>> = {
  ask: '-> pending',
  edit: 'pending -> pending',
  approve: 'pending -> approved',
  reject: 'pending -> rejected',
  expire: 'pending | approved -> expired',
  withdraw: 'pending | approved -> withdrawn',
  reopen: 'approved -> pending',
  answer: 'approved -> done failed',
  begin: 'approved -> executing',
  finish: 'executing -> done failed indeterminate',
  giveBack: 'executing | indeterminate -> pending | approved',
  lose: 'executing -> indeterminate failed',
  settle: 'indeterminate -> done failed',
  late: 'approved failed indeterminate -> done indeterminate',
  invalidate: 'pending approved -> done failed indeterminate rejected expired withdrawn',
};
const NAMES = Object.keys(TABLE) as TransitionName[];
const wordsOf = (text: string): string[] => text.split(' ').filter((word) => word !== '');
const statesOf = (side: string, kind: ApprovalKind): string[] => {
  const [all = '', permits = ''] = side.split('|');
  return [...wordsOf(all), ...(kind === 'permit' ? wordsOf(permits) : [])];
};

describe.each<ApprovalKind>(['call', 'permit'])('the transitions of a %s', (kind) => {
  it.each(NAMES)('%s go from its states to its states alone', (name) => {
    const [from = '', to = ''] = TABLE[name].split('->');
    const [sources, targets] = [statesOf(from, kind), statesOf(to, kind)];
    expect(sourcesOf(name, kind)).toEqual(sources);
    expect(targetsOf(name, kind)).toEqual(targets);
    const found = [undefined, ...APPROVAL_STATES].flatMap((start) =>
      APPROVAL_STATES.filter((end) => isAllowed(name, start, end, kind)).map((end) => `${start} ${end}`),
    );
    const starts = sources.length > 0 ? sources : ['undefined'];
    const expected = starts.flatMap((start) => targets.map((end) => `${start} ${end}`));
    expect(found.toSorted()).toEqual(expected.toSorted());
  });
});
