import type { Entry, EntryInput } from '../entry.ts';
import { CallHistoryCheck } from './call-history.ts';
import { Problems } from './report.ts';

const AT = '2026-01-01T00:00:00.000Z';

/** An entry as tests write it: dated unless it says when. */
export type Told = Omit<EntryInput, 'at'> & { readonly at?: string };

export const dated = (entry: Told): Entry => ({ v: 1, at: AT, ...entry });

export function tell(...entries: Told[]): { messages: string[]; open: number; calls: number } {
  const problems = new Problems();
  const history = new CallHistoryCheck(problems);
  entries.forEach((entry, seq) => {
    history.take(seq, dated(entry));
  });
  return {
    messages: problems.list.map(({ message }) => message),
    open: history.openIntents,
    calls: history.calls,
  };
}

export const agent = 'agent:local';
export const change = { call: 'c', tool: 'post', effect: 'change', principal: agent, digest: 'd1' };
export const intent: Told = { ...change, kind: 'intent', decision: 'allow' };
export const outcome: Told = { ...change, kind: 'outcome', status: 'ok' };
export const approval = { uuid: 'u', digest: 'd1', approver: 'person:ada' };
export const asked: Told = {
  kind: 'approval',
  status: 'pending',
  principal: agent,
  approval: { uuid: 'u', digest: 'd1' },
};
export const granted: Told = { kind: 'approval', status: 'approved', principal: 'person:ada', approval };
/** The intent of a call that runs under its approval. */
export const approved: Told = { ...intent, decision: 'ask', approval };
/** A read that ran under its approval. */
export const looked: Told = { ...approved, kind: 'read', effect: 'read', status: 'ok' };
