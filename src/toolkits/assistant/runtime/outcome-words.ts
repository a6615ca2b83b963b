import type { Outcome } from '../../../contract/outcome.ts';

export interface Told {
  readonly text: string;
  readonly isError: boolean;
}

export const tellProblem = (text: string): Told => ({ text, isError: true });

/** What came of a tool call, in words a model can act on. A call that did not happen says so first. */
export function tellOutcome(outcome: Outcome, maxChars: number): Told {
  switch (outcome.status) {
    case 'ok': {
      const text = typeof outcome.data === 'string' ? outcome.data : JSON.stringify(outcome.data);
      const files = (outcome.content ?? []).filter((part) => part.type !== 'text').length;
      const attached = files > 0 ? `\n[${files} file(s) were attached to your reply.]` : '';
      return { text: shorten(text, maxChars) + attached, isError: false };
    }
    case 'routed':
      return tellProblem(
        `Not done yet. This call waits for a person's approval as item ${outcome.approvalId} (${outcome.reason}). Do not call it again; say in your answer that it waits.`,
      );
    case 'dry_run':
      return tellProblem(
        `Not done: policy allows a dry run only (${outcome.rule}). ${outcome.data === undefined ? '' : `It would have given: ${shorten(JSON.stringify(outcome.data), maxChars)}`}`.trim(),
      );
    case 'needs_person':
      return tellProblem(`Not done. Only a person can decide this: ${outcome.question}`);
    case 'refused':
      return tellProblem(
        `Refused and not done (${outcome.fault.code}): ${outcome.fault.message} ${outcome.fault.hint}`,
      );
    case 'failed':
      return tellProblem(`Failed (${outcome.fault.code}): ${outcome.fault.message} ${outcome.fault.hint}`);
    case 'indeterminate':
      return tellProblem(
        'It is not known whether this call took effect. Do not repeat it; a person will look into it. Say so in your answer.',
      );
    default:
      return outcome satisfies never;
  }
}

/** Head and tail: the end of a listing or log often matters as much as its beginning. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`;
}
