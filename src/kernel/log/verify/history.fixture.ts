import type { Entry, EntryInput } from '../entry.ts';
import { CallHistoryCheck } from './call-history.ts';
import { Problems } from './report.ts';

const AT = '2026-01-01T00:00:00.000Z';

/** An entry as tests write it: dated unless it says when. */
export type EntryDraft = Omit<EntryInput, 'at'> & { readonly at?: string };

export const dated = (entry: EntryDraft): Entry => ({ v: 1, at: AT, ...entry });

export function checkHistory(...entries: EntryDraft[]): { messages: string[]; open: number; calls: number } {
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
export const intent: EntryDraft = { ...change, kind: 'intent', decision: 'allow' };
export const outcome: EntryDraft = { ...change, kind: 'outcome', status: 'ok' };
export const approval = { uuid: 'u', digest: 'd1', approver: 'person:ada' };
export const asked: EntryDraft = {
  kind: 'approval',
  status: 'pending',
  principal: agent,
  approval: { uuid: 'u', digest: 'd1' },
};
export const granted: EntryDraft = {
  kind: 'approval',
  status: 'approved',
  principal: 'person:ada',
  approval,
};
/** The intent of a call that runs under its approval. */
export const approved: EntryDraft = { ...intent, decision: 'ask', approval };
/** A read that ran under its approval. */
export const looked: EntryDraft = { ...approved, kind: 'read', effect: 'read', status: 'ok' };
