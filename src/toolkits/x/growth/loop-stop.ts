import type { Outcome } from '../../../contract/outcome.ts';

/** Ends a round of a loop: nothing is wrong with the loop, but it cannot go on now. */
export class LoopStop extends Error {
  readonly code: string;
  /** When it makes sense to try again, where that is known. */
  readonly until: Date | undefined;

  constructor(code: string, message: string, until?: Date) {
    super(message);
    this.name = 'LoopStop';
    this.code = code;
    this.until = until;
  }

  static from(tool: string, outcome: Outcome): LoopStop {
    if ('fault' in outcome)
      return new LoopStop(outcome.fault.code, `${tool}: ${outcome.fault.message}`, outcome.fault.resetAt);
    return new LoopStop(outcome.status, `${tool} was answered with ${outcome.status}.`);
  }
}
