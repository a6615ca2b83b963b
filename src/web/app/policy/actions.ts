import type { Action } from '../../../contract/policy.ts';

export const ACTIONS: readonly Action[] = ['allow', 'ask', 'dry_run', 'deny'];
export const ACTION_WORDS: Readonly<Record<Action, string>> = {
  allow: 'allow',
  ask: 'ask a person',
  dry_run: 'dry run only',
  deny: 'deny',
};
